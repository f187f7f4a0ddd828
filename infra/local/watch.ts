import { type BuildContext, type BuildFailure, context, formatMessages, type Message } from 'esbuild';
import { type FSWatcher, globSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundlingOptions, projectRoot } from '../stack/bundling.ts';
import type { Emulator } from './emulator/emulator.ts';
import { bundleIn, type RunningFunction } from './emulator/lambda/lambda.ts';

/** Editors and version control often save several files in a row. Bundles then contain all or none of these changes. */
const QUIET_MILLISECONDS = 50;

interface WatchedFunction {
  /** Module of the function, such as `functions/get-pet.ts`. */
  entry: string;
  name: string;
  fn: RunningFunction;
  build: BuildContext;
  /** Code that the latest build produced, or the errors if the build failed. */
  outcome: string;
  /** File of the current bundle, or undefined for the synthesized bundle. */
  file?: string;
}

/**
 * Rebuilds and reloads functions when their sources change.
 *
 * @param workFolder folder for the new bundles
 * @returns a function that stops watching
 */
export async function startWatch(
  emulator: Emulator,
  assembly: string,
  workFolder: string,
): Promise<() => Promise<void>> {
  const folder = join(workFolder, 'bundles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const functions = await readFunctions(emulator, assembly);
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    // Folders can be new or replaced. The build follows, so no change between the old and new watchers is missed.
    for (const watcher of watchers) watcher.close();
    watchers = watchFolders(() => {
      clearTimeout(timer);
      timer = setTimeout(() => (working = working?.then(work)), QUIET_MILLISECONDS);
    });
    await rebuild(functions, folder, emulator.api.flushAuthorizersCache);
  }

  // The first build applies changes that were saved after the synthesis started, and fills esbuild's caches.
  working = work().then(() =>
    print('watching the functions (restart to apply changes to the stack, its routes or the local service)'),
  );
  return async function close() {
    for (const watcher of watchers) watcher.close();
    clearTimeout(timer);
    await working;
    await Promise.all(functions.map(({ build }) => build.dispose()));
  };
}

/** Watches each folder separately, because Node's option `recursive` misses changes after an editor replaced a file. */
function watchFolders(onChange: () => void): FSWatcher[] {
  const folders = ['', ...globSync('{functions,shared}/**/', { cwd: projectRoot })];
  return folders.map((folder) => watch(join(projectRoot, folder), onChange).on('error', onChange));
}

function readFunctions({ template, functions }: Emulator, assembly: string): Promise<WatchedFunction[]> {
  return Promise.all(
    template.resources('AWS::Lambda::Function').map(async (resource) => {
      const entry = resource.metadata['entry'] as string;
      const build = await context({
        ...bundlingOptions,
        absWorkingDir: projectRoot,
        entryPoints: [entry],
        outfile: 'index.mjs',
        write: false,
        metafile: true,
        logLevel: 'silent',
      });
      const outcome = readFileSync(bundleIn(assembly, resource), 'utf8');
      return { entry, name: basename(entry, '.ts'), fn: functions.get(resource.logicalId)!, build, outcome };
    }),
  );
}

/**
 * Rebuilds the functions and reloads each function whose bundle has changed. If a build fails, the function keeps its
 * previous code and the errors are printed once.
 */
async function rebuild(functions: WatchedFunction[], folder: string, onReload: () => void): Promise<void> {
  const start = performance.now();
  const builds = await Promise.all(functions.map(codeOf));
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

/** Returns the errors or warnings of a build, and the bundle's code unless the build failed or exports no handler. */
async function codeOf({ entry, build }: WatchedFunction): Promise<{ code?: string; messages: string[] }> {
  try {
    const { outputFiles, metafile, warnings } = await build.rebuild();
    const { exports } = metafile!.outputs['index.mjs']!;
    if (!exports.includes('handler')) return { messages: [`${entry} does not export handler.`] };
    return { code: outputFiles![0]!.text, messages: await format(warnings, 'warning') };
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>;
    return { messages: errors ? await format(errors, 'error') : [String(error)] };
  }
}

function format(messages: Message[], kind: 'error' | 'warning'): Promise<string[]> {
  return formatMessages(messages, { kind, color: process.stderr.isTTY && process.stderr.hasColors() });
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
