import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

// CONTRIBUTING.md has the table of what each folder may import. This reads it and checks files against it.

interface Import {
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

const document = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');

/** The rows of the table between the two markers. */
export const rules = (document.split('<!-- imports -->')[1]?.match(/^\| `.*$/gm) ?? []).map((row): Rule => {
  const [place = '', imports = '', packages = ''] = row.split('|').slice(1);
  return { place: names(place)[0]!, imports: names(imports), packages: names(packages) };
});

function names(cell: string): string[] {
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, name]) => name!);
}

const reserved = new Set(rules.flatMap(({ packages }) => packages));

function isIn(name: string, place: string): boolean {
  return name === place || name.startsWith(`${place}/`);
}

/** @returns a sentence for each import of the file that the table does not allow. */
export function forbiddenImports(file: string, source: string): string[] {
  const [rule] = rules
    .filter(({ place }) => isIn(file, place))
    .toSorted((one, other) => other.place.length - one.place.length);
  if (!rule) return [`${file} has no row in the table of imports in CONTRIBUTING.md`];
  return importsOf(file, source)
    .filter((found) => !isAllowed(file, rule, found))
    .map(({ target }) => `${file} must not import ${target}: see the table of imports in CONTRIBUTING.md`);
}

function isAllowed(file: string, { imports, packages }: Rule, { target, isFile, typeOnly }: Import): boolean {
  if (isFile) return imports.some((place) => isIn(target, place));
  // The package has types only.
  if (target === 'aws-lambda') return typeOnly;
  if (file.startsWith('functions/')) return false;
  const owned = [...reserved].filter((name) => isIn(target, name));
  return owned.length === 0 || packages.some((name) => isIn(target, name));
}

/** @returns imports and re-exports of a module that name their target, and modules that it starts as workers. */
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

/** @returns whether the module imports anything by a computed name. */
export function importsComputedNames(source: string): boolean {
  return /\b(?:import|require)\((?!\s*(['"])[^'"]*\1\s*[,)])/.test(source);
}

/** @returns a circle in the graph, its first node again at the end, or undefined if there is none. */
export function findCircle(graph: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  function visit(node: string, path: string[]): string[] | undefined {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const circle = visit(next, [...path, node]);
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
