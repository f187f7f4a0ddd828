import { build } from 'esbuild';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './assembly.ts';

/** Beside modules: what the CDK, and esbuild by itself, go by. */
const SETTINGS_FILES = ['cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json'];

export interface StackSources {
  /** What to tell of a changed file, relative to the project, if it is one of these and has another content than the last time. */
  notice: (path: string, isBundled: boolean) => string | undefined;
}

/** Reads what the stack is synthesized from and what runs it here: a change of these needs a new start. */
export async function readStackSources(): Promise<StackSources> {
  const { app } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8')) as { app: string };
  // Its workers' module is imported by none.
  const own = readdirSync(join(projectRoot, 'infra/local')).map((name) => `infra/local/${name}`);
  const ofService = new Set([...own, ...(await modulesOf('infra/local/main.ts'))]);
  const ofStack = [...SETTINGS_FILES, ...(await modulesOf(app.split(' ').at(-1)!))];
  const contents = new Map([...ofService, ...ofStack].map((path) => [path, read(path)]));
  return {
    notice(path, isBundled) {
      if (!contents.has(path)) return undefined;
      const content = read(path);
      if (content === contents.get(path)) return undefined;
      contents.set(path, content);
      if (ofService.has(path)) {
        return `${path} is part of the local service: start again to run it.`;
      }
      if (!isBundled) return `${path} is part of the stack: start again to run it.`;
      contents.delete(path); // said once: most of its changes are the functions' alone
      return `${path} is part of the stack too: what that takes from it, such as routes and settings, needs a new start.`;
    },
  };
}

/** The project's modules that a module loads; none when it cannot be loaded, of which the synthesis tells. */
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
  const file = join(projectRoot, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
