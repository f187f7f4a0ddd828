import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

// This module reads the list of allowed imports in CONTRIBUTING.md and checks files against the list.

interface Import {
  /** Project file (`shared/storage/pets.ts`) or package (`@aws-sdk/lib-dynamodb`, `node:fs`). */
  target: string;
  /** Whether the target is a file instead of a package. */
  isFile: boolean;
  /** Whether type stripping removes the import. */
  typeOnly: boolean;
}

/** An entry in the list of allowed imports. */
export interface Rule {
  /** Folder (`shared/storage`) or file (`shared/names.ts`). If several paths match a file, the longest path applies. */
  path: string;
  /** Paths whose files may be imported. A folder's files may import each other only if the folder lists itself. */
  imports: string[];
  /** Packages and scopes (`@aws-sdk`) that an entry's files may import only if the entry lists them. */
  packages: string[];
}

const document = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');

export const rules = (document.split('<!-- imports -->')[1]?.split(/^- /m).slice(1) ?? []).map(
  (entry): Rule => {
    const [imports = '', packages = ''] = entry.split('Packages:');
    const [path, ...targets] = names(imports);
    return { path: path!, imports: targets, packages: names(packages) };
  },
);

function names(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, name]) => name!);
}

const reserved = new Set(rules.flatMap(({ packages }) => packages));

function isIn(name: string, path: string): boolean {
  return name === path || name.startsWith(`${path}/`);
}

/** Returns a message for each import in the file that the list does not allow. */
export function forbiddenImports(file: string, source: string): string[] {
  const [rule] = rules
    .filter(({ path }) => isIn(file, path))
    .toSorted((one, other) => other.path.length - one.path.length);
  if (!rule) return [`Add ${file} to the list of imports in CONTRIBUTING.md.`];
  return importsOf(file, source)
    .filter((found) => !isAllowed(file, rule, found))
    .map(({ target }) => `${file} must not import ${target}. CONTRIBUTING.md lists the allowed imports.`);
}

function isAllowed(file: string, { imports, packages }: Rule, { target, isFile, typeOnly }: Import): boolean {
  if (isFile) return imports.some((path) => isIn(target, path));
  // The package contains only types, so value imports would fail at run time.
  if (target === 'aws-lambda') return typeOnly;
  if (file.startsWith('functions/')) return false;
  const owned = [...reserved].filter((name) => isIn(target, name));
  return owned.length === 0 || packages.some((name) => isIn(target, name));
}

/** Returns a module's imports and re-exports with a literal name, and the modules that it starts as workers. */
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

/** Checks whether a module imports a name that is not a literal. */
export function importsComputedNames(source: string): boolean {
  return /\b(?:import|require)\((?!\s*(['"])[^'"]*\1\s*[,)])/.test(source);
}

/** Returns a cycle in the graph, or undefined if there is none. The cycle starts and ends with the same node. */
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
