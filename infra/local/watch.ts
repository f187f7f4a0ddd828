import { type AsyncSubscription, subscribe } from '@parcel/watcher';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Bundler, createBundler, readBundlings } from './bundles.ts';
import { bundleIn, type RunningFunction } from './emulator/lambda/lambda.ts';
import { UsageError } from '../command.ts';
import { projectRoot } from './assembly.ts';
import type { Template } from './emulator/template/template.ts';

export interface WatchOptions {
  stage: string;
  template: Template;
  assembly: string;
  functions: Map<string, RunningFunction>;
  workFolder: string;
  onReload: () => void;
}

interface WatchedFunction {
  name: string;
  fn: RunningFunction;
  bundler: Bundler;
  /** Code that the latest build produced, or the errors if the build failed. */
  outcome: string;
  /** File of the current bundle, or undefined for the synthesized bundle. */
  file?: string;
}

/** Project folders that contain no source files. */
const OTHER_FOLDERS = ['node_modules', '.git', '.petstore', 'cdk.out'];
/** Folders in the work folder that must not be watched, because the local service writes to them. */
const WRITTEN_FOLDERS = ['tables', 'cdk.out', 'bundles'];

/** Rebuilds and reloads functions when their sources change, until the returned function is called. */
export async function startWatch(options: WatchOptions): Promise<() => Promise<void>> {
  const folder = join(options.workFolder, 'bundles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const functions = await readFunctions(options);
  const changed = new Set<string>();
  let working: Promise<void> | undefined;

  /** Applies changes in sequence so that the last build contains the latest sources. */
  async function work(): Promise<void> {
    while (changed.size > 0) {
      const paths = [...changed];
      changed.clear();
      const affected = functions.filter(({ bundler }) => bundler.dependsOn(paths));
      await rebuild(affected, folder, options.onReload);
    }
    working = undefined;
  }

  const subscription = await watchSources(options.workFolder, (paths) => {
    for (const path of paths) changed.add(path);
    working ??= work();
  });
  // The first build applies changes that were saved after the synthesis started, and fills esbuild's caches.
  working = rebuild(functions, folder, options.onReload).then(() => {
    print('watching the functions (restart to apply changes to the stack, its routes or the local service)');
    return work();
  });
  return async function close() {
    await subscription.unsubscribe();
    changed.clear();
    await working;
    await Promise.all(functions.map(({ bundler }) => bundler.close()));
  };
}

function readFunctions({ stage, template, assembly, functions }: WatchOptions): Promise<WatchedFunction[]> {
  const bundlings = readBundlings(stage, assembly);
  return Promise.all(
    template.resources('AWS::Lambda::Function').map(async (resource) => {
      const bundling = bundlings.get(resource.logicalId)!;
      return {
        name: bundling.name,
        fn: functions.get(resource.logicalId)!,
        bundler: await createBundler(bundling, resource.properties.Handler.split('.')[1]!),
        outcome: readFileSync(bundleIn(assembly, resource), 'utf8'),
      };
    }),
  );
}

/** @throws UsageError if the system cannot watch the project. */
export async function watchSources(
  workFolder: string,
  onChange: (paths: string[]) => void,
): Promise<AsyncSubscription> {
  const ignore = [...OTHER_FOLDERS, ...WRITTEN_FOLDERS.map((name) => join(workFolder, name))];
  try {
    return await subscribe(
      projectRoot,
      (error, events) => {
        if (error) console.error(error);
        onChange(events.map(({ path }) => relative(projectRoot, path).replaceAll('\\', '/')));
      },
      { ignore },
    );
  } catch (error) {
    throw new UsageError(
      `The sources cannot be watched (${(error as Error).message}). Start without --watch, or raise the system's limit (on Linux, fs.inotify.max_user_watches).`,
    );
  }
}

/**
 * Rebuilds the given functions and reloads each function whose bundle has changed. If a build fails, the function keeps
 * its previous code and the errors are printed once.
 */
async function rebuild(functions: WatchedFunction[], folder: string, onReload: () => void): Promise<void> {
  const start = performance.now();
  const builds = await Promise.all(functions.map(({ bundler }) => bundler.build()));
  const [reloaded, failed]: [string[], string[]] = [[], []];
  const printed = new Set<string>(); // Several bundles can contain the same faulty module.
  for (const [index, watched] of functions.entries()) {
    const { code, messages } = builds[index]!;
    const outcome = code ?? messages.join('');
    if (outcome === watched.outcome) continue;
    watched.outcome = outcome;
    for (const message of messages) printed.add(message);
    if (code !== undefined) reload(watched, code, folder);
    (code === undefined ? failed : reloaded).push(watched.name);
  }
  if (reloaded.length > 0) onReload();

  const milliseconds = Math.round(performance.now() - start);
  if (reloaded.length > 0) print(`reloaded ${reloaded.join(', ')} in ${milliseconds} ms`);
  if (failed.length > 0) print(`cannot build ${failed.join(', ')} (the previous code continues to run)`);
  for (const message of printed) console.error(message.trimEnd());
}

/** Replaces a function's code and deletes the previous file when the last instance that uses the file has exited. */
function reload(watched: WatchedFunction, code: string, folder: string): void {
  const { name, fn, file: previous } = watched;
  watched.file = join(folder, `${name}-${Date.now()}.mjs`);
  writeFileSync(watched.file, code);
  const drained = fn.updateCode(watched.file);
  if (previous) void drained.then(() => rmSync(previous, { force: true }));
}

function print(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}
