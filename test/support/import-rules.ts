import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

// CONTRIBUTING.md has the table of what each folder may import. This reads it and holds files against it.

export interface Import {
  /** A file of the project (`shared/storage/pets.ts`) or a package (`@aws-sdk/lib-dynamodb`, `node:fs`). */
  target: string;
  /** Whether the target is a file, not a package. */
  isFile: boolean;
  /** Whether type stripping removes the import. */
  typeOnly: boolean;
}

/** A row of the table: files with the same rights. */
export interface Rule {
  /** A folder (`shared/storage`) or a file (`shared/names.ts`). The longest that contains a file applies to it. */
  place: string;
  /** Places whose files may be imported. Files of one folder import one another only if it lists itself. */
  imports: string[];
  /** Packages that are reserved for the places which name them, with everything below: `@aws-sdk`. */
  packages: string[];
}

const MARKER = '<!-- imports -->';

/** The rows of the table between the two markers of a Markdown document. */
export function readRules(markdown: string): Rule[] {
  const rows = markdown.split(MARKER)[1]?.match(/^\| `.*$/gm) ?? [];
  return rows.map((row) => {
    const [place = '', imports = '', packages = ''] = row.split('|').slice(1);
    return { place: names(place)[0]!, imports: names(imports), packages: names(packages) };
  });
}

function names(cell: string): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, name]) => name!);
}

export const rules = readRules(readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8'));

const reserved = new Set(rules.flatMap(({ packages }) => packages));

/** The row that applies to a file, if any. */
export function ruleOf(file: string, table: Rule[] = rules): Rule | undefined {
  const rows = table.filter(({ place }) => isIn(file, place));
  return rows.toSorted((one, other) => other.place.length - one.place.length)[0];
}

function isIn(name: string, place: string): boolean {
  return name === place || name.startsWith(`${place}/`);
}

/** Imports of a file that the table does not allow, each as a sentence. */
export function forbiddenImports(file: string, source: string): string[] {
  const rule = ruleOf(file);
  if (!rule) return [`${file} has no row in the table of imports in CONTRIBUTING.md`];
  return importsOf(file, source)
    .filter((found) => !isAllowed(file, rule, found))
    .map(({ target }) => `${file} must not import ${target}: see the table of imports in CONTRIBUTING.md`);
}

function isAllowed(file: string, { imports, packages }: Rule, { target, isFile, typeOnly }: Import): boolean {
  if (isFile) return imports.some((place) => isIn(target, place));
  // The package has types alone, so that there is nothing to run.
  if (target === 'aws-lambda') return typeOnly;
  if (file.startsWith('functions/')) return false;
  const owned = [...reserved].filter((name) => isIn(target, name));
  return owned.length === 0 || packages.some((name) => isIn(target, name));
}

/** All imports and re-exports of a module that name their target, and the modules that it starts as workers. */
export function importsOf(file: string, source: string): Import[] {
  const declarations = source.matchAll(
    /^[ \t]*(?:import|export)\b(?<type>\s+type\b(?!\s*(?:,|from\b)))?(?:[^'"`;]*?\bfrom)?\s*(['"])(?<name>[^'"]+)\2/gm,
  );
  const calls = source.matchAll(/\b(?:import|require|importActual)\(\s*(['"`])(?<name>[^'"`]+)\1/g);
  const started = source.matchAll(/\bnew URL\(\s*(['"`])(?<name>\.[^'"`]+\.[cm]?[jt]s)\1/g);
  return [...declarations, ...calls, ...started].map(({ groups }) => {
    const name = groups!['name']!;
    const isFile = /^\.|^\/|^file:/.test(name);
    return {
      target: isFile ? join(dirname(file), name) : name,
      isFile,
      typeOnly: groups!['type'] !== undefined,
    };
  });
}

/** Whether the module imports something by a name that it computes. */
export function importsComputedNames(source: string): boolean {
  return /\b(?:import|require)\((?!\s*(['"])[^'"]*\1\s*[,)])/.test(source);
}

/** The first circle that is found in a graph, as the way round it; undefined if there is none. */
export function findCircle(graph: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  function visit(node: string, way: string[]): string[] | undefined {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const circle = visit(next, [...way, node]);
      if (circle) return circle;
    }
    done.add(node);
    return undefined;
  }
  for (const node of graph.keys()) {
    const circle = visit(node, []);
    if (circle) return circle;
  }
  return undefined;
}
