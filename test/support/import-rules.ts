import { dirname, join } from 'node:path/posix';

export interface Import {
  /** A file of the project (`shared/pets.ts`) or a package (`@aws-sdk/lib-dynamodb`, `node:fs`). */
  target: string;
  /** Whether it is a file, and no package. */
  isFile: boolean;
  /** Whether nothing is left of it when the types are stripped. */
  typeOnly: boolean;
}

/** Files with the same rights. A file belongs to the first zone that it matches. */
interface Zone {
  files: RegExp;
  /** The files of the project that it may import. */
  project: RegExp;
}

const COMMAND_NAMES =
  'command|cost|cost-model|deployed-stage|docs|key-commands|key-lifecycle|key-options|key-output|key-rotation|key-stage|keys|markdown-table|openapi|openapi-diff|openapi-diff-[a-z]+|progress|seed|seed-[a-z]+|smoke';
const OPERATOR_COMMANDS = String.raw`infra/(${COMMAND_NAMES})\.ts`;
const CDK_FILES = String.raw`infra/(?!(${COMMAND_NAMES}|reference|reference-[a-z]+)\.ts)[^/]+\.ts`;

const zones: Zone[] = [
  // What makes the OpenAPI document has no place in a bundle.
  { files: /^functions\//, project: /^shared\/(?!openapi)/ },
  { files: /^shared\/openapi/, project: /^shared\// },
  { files: /^shared\//, project: /^shared\/(?!openapi)/ },
  // It runs before anything can be known to be there.
  { files: /^infra\/require-node\.cjs$/, project: /^$/ },
  // The page that the local service shows to browsers; it knows nothing of the rest.
  { files: /^infra\/reference(-[a-z]+)?\.ts$/, project: /^infra\/reference-[a-z]+\.ts$/ },
  { files: /^infra\/local\//, project: /^infra\/(local\/.*|reference(-library)?\.ts)$/ },
  {
    files: new RegExp(`^${OPERATOR_COMMANDS}$`),
    // Settings are plain data.
    project:
      /^(shared\/.*|infra\/(command|cost-model|deployed-stage|key-[a-z]+|markdown-table|openapi-diff-[a-z]+|progress|reference(-library)?|seed-[a-z]+|stages)\.ts)$/,
  },
  {
    files: new RegExp(`^${CDK_FILES}$`),
    project: new RegExp(`^(${CDK_FILES}|shared/(operations|environment)\\.ts)$`),
  },
];

/** The only files that may import these packages. */
const packages: [target: RegExp, files: RegExp][] = [
  [/^(aws-cdk-lib|constructs)(\/|$)/, new RegExp(`^${CDK_FILES}$`)],
  [/^@aws-sdk\//, new RegExp(`^(shared/(database|lambda-credentials|pets)\\.ts|${OPERATOR_COMMANDS})$`)],
  [/^@faker-js\/faker(\/|$)/, /^infra\/seed-pets\.ts$/],
  [/^@middy\/core(\/|$)/, /^shared\/endpoint\.ts$/],
  [/^@valibot\/to-json-schema$/, /^shared\/openapi\.ts$/],
  [/^@scalar\//, /^infra\/reference-library\.ts$/],
];

/** What the file imports against the rules of the architecture, each as a sentence. */
export function forbiddenImports(file: string, source: string): string[] {
  const zone = zones.find(({ files }) => files.test(file));
  if (!zone) return [`${file} belongs to no part of the project`];

  return importsOf(file, source)
    .filter((found) => !isAllowed(file, zone, found))
    .map(({ target }) => `${file} must not import ${target}`);
}

function isAllowed(file: string, zone: Zone, { target, isFile, typeOnly }: Import): boolean {
  if (isFile) return zone.project.test(target);
  // It has types alone, of events and answers: there is no such package to run.
  if (target === 'aws-lambda') return typeOnly;
  if (file.startsWith('functions/')) return false;
  return packages.every(([pattern, files]) => !pattern.test(target) || files.test(file));
}

/** Everything that a module imports or exports on, statically or not, by a name that is written there. */
export function importsOf(file: string, source: string): Import[] {
  const declarations = source.matchAll(
    /^[ \t]*(?:import|export)\b(?<type>\s+type\b(?!\s*(?:,|from\b)))?(?:[^'"`;]*?\bfrom)?\s*(['"])(?<name>[^'"]+)\2/gm,
  );
  const calls = source.matchAll(/\b(?:import|require|importActual)\(\s*(['"`])(?<name>[^'"`]+)\1/g);
  return [...declarations, ...calls].map(({ groups }) => {
    const name = groups!['name']!;
    const isFile = /^\.|^\/|^file:/.test(name);
    return {
      target: isFile ? join(dirname(file), name) : name,
      isFile,
      typeOnly: groups!['type'] !== undefined,
    };
  });
}

/** Whether the module imports something by a name that is made up while it runs. */
export function importsComputedNames(source: string): boolean {
  return /\b(?:import|require)\((?!\s*(['"])[^'"]*\1\s*[,)])/.test(source);
}
