import { build } from 'esbuild';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../template/assembly.ts';

/** Beside modules: what the CDK, and esbuild by itself, go by. */
const SETTINGS_FILES = ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** More files than this are only counted. */
const NAMED_FILES = 3;

export interface StackSources {
  /** Relative to the project. */
  files: string[];
  /**
   * What to tell of those that have another content than the last time, a line for each reason.
   *
   * @param bundled files that the functions are made from.
   */
  notices: (files: Set<string>, bundled: Set<string>) => string[];
}

/** Reads what the stack is synthesized from, what runs it here, and what documents it: the functions' code alone is swapped. */
export async function readStackSources(): Promise<StackSources> {
  const { app } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8')) as { app: string };
  // Its workers' module is imported by none.
  const own = readdirSync(join(projectRoot, 'infra/local')).map((name) => `infra/local/${name}`);
  const ofService = new Set([...own, ...(await modulesOf('infra/local/main.ts'))]);
  const ofStack = new Set([...SETTINGS_FILES, ...(await modulesOf(app.split(' ').at(-1)!))]);
  const documenting = await modulesOf('infra/documents/openapi/write.ts');
  const ofDocument = new Set(documenting.filter((path) => path.startsWith('shared/')));
  const atStart = new Map(
    Array.from(ofService.union(ofStack).union(ofDocument), (path) => [path, read(path)]),
  );
  const latest = new Map(atStart);

  function isChanged(path: string): boolean {
    const content = read(path);
    if (!atStart.has(path) || content === latest.get(path)) return false;
    latest.set(path, content);
    return true;
  }

  function isAsAtStart(path: string): boolean {
    return latest.get(path) === atStart.get(path);
  }

  return {
    files: [...atStart.keys()],
    notices(files, bundled) {
      const changed = [...files].filter(isChanged).toSorted();
      const others = new Set(changed.filter((path) => !isAsAtStart(path)));
      const stack = others.intersection(ofStack).difference(ofService);
      return [
        tell(
          others.intersection(ofService),
          (they, them) => `${they} part of the local service: start again to run ${them}.`,
        ),
        tell(
          stack.difference(bundled),
          (they, them) => `${they} part of the stack: start again to run ${them}.`,
        ),
        tell(
          stack.intersection(bundled),
          (they, them) =>
            `${they} part of the stack too: what that takes from ${them}, such as routes and settings, needs a new start.`,
        ),
        tell(
          others.intersection(ofDocument),
          (they) => `${they} part of the OpenAPI document: npm run openapi writes it anew.`,
        ),
        tell(new Set(changed.filter(isAsAtStart)), (they) => `${they} as at the start again.`),
      ].flat();
    },
  };
}

function tell(files: Set<string>, line: (they: string, them: string) => string): string[] {
  if (files.size === 0) return [];
  if (files.size === 1) return [line(`${[...files].join()} is`, 'it')];
  const more = files.size - NAMED_FILES;
  const named = [...files].slice(0, NAMED_FILES);
  const list =
    more > 0
      ? `${named.join(', ')} and ${more} more`
      : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
  return [line(`${list} are`, 'them')];
}

/** The project's modules that a module loads; none, and no notices of them, when it cannot be loaded. */
async function modulesOf(entry: string): Promise<string[]> {
  try {
    const { metafile } = await build({
      absWorkingDir: projectRoot,
      entryPoints: [entry],
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      metafile: true,
      write: false,
      logLevel: 'silent',
    });
    return Object.keys(metafile.inputs);
  } catch {
    return [];
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(join(projectRoot, path), 'utf8');
  } catch {
    return undefined; // it is not there, or is a folder now
  }
}
