import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

// CONTRIBUTING.md lists what each folder may import. This reads the list and checks files against it.

interface Import {
  /** A file of the project (`shared/storage/pets.ts`) or a package (`@aws-sdk/lib-dynamodb`, `node:fs`). */
  target: string;
  /** Whether the target is a file, not a package. */
  isFile: boolean;
  /** Whether type stripping removes the import. */
  typeOnly: boolean;
}

/** An entry of the list. */
export interface Rule {
  /** A folder (`shared/storage`) or a file (`shared/names.ts`). The longest place that contains a file applies to it. */
  place: string;
  /** Places whose files may be imported. Files in the same folder may be imported only if the folder lists itself. */
  imports: string[];
  /** Packages and scopes (`@aws-sdk`) that only entries which list them may import. */
  packages: string[];
}

const document = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');

export const rules = (document.split('<!-- imports -->')[1]?.split(/^- /m).slice(1) ?? []).map(
  (entry): Rule => {
    const [imports = '', packages = ''] = entry.split(/\bpackages\s/);
    const [place, ...targets] = names(imports);
    return { place: place!, imports: targets, packages: names(packages) };
  },
);

function names(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, name]) => name!);
}

const reserved = new Set(rules.flatMap(({ packages }) => packages));

function isIn(name: string, place: string): boolean {
  return name === place || name.startsWith(`${place}/`);
}

/** Returns a message for each import of the file that the list does not allow. */
export function forbiddenImports(file: string, source: string): string[] {
  const [rule] = rules
    .filter(({ place }) => isIn(file, place))
    .toSorted((one, other) => other.place.length - one.place.length);
  if (!rule) return [`${file} has no entry in the list of imports in CONTRIBUTING.md`];
  return importsOf(file, source)
    .filter((found) => !isAllowed(file, rule, found))
    .map(({ target }) => `${file} must not import ${target}: see the list of imports in CONTRIBUTING.md`);
}

function isAllowed(file: string, { imports, packages }: Rule, { target, isFile, typeOnly }: Import): boolean {
  if (isFile) return imports.some((place) => isIn(target, place));
  // The package contains only types.
  if (target === 'aws-lambda') return typeOnly;
  if (file.startsWith('functions/')) return false;
  const owned = [...reserved].filter((name) => isIn(target, name));
  return owned.length === 0 || packages.some((name) => isIn(target, name));
}

/** Returns the imports and re-exports of a module with a literal name, and the modules that it starts as workers. */
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

/** Checks whether the module has an import with a computed name. */
export function importsComputedNames(source: string): boolean {
  return /\b(?:import|require)\((?!\s*(['"])[^'"]*\1\s*[,)])/.test(source);
}

/** Returns a cycle of the graph, with its first node repeated at the end, or undefined if there is none. */
export function findCycle(graph: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  function visit(node: string, path: string[]): string[] | undefined {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return undefined;
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return undefined;
  }
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return undefined;
}
