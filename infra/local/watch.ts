import { type BuildFailure, context, formatMessages, type PartialMessage } from 'esbuild';
import { type FSWatcher, globSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundlingOptions, projectRoot } from '../stack/bundling.ts';
import type { Emulator } from './emulator/emulator.ts';
import { bundleIn, type RunningFunction } from './emulator/lambda/lambda.ts';

/** Editors and version control often save several files in a row. Bundles then contain all of these changes. */
const QUIET_MILLISECONDS = 50;

interface WatchedFunction {
  /** Module of the function, such as `functions/get-pet.ts`. */
  entry: string;
  fn: RunningFunction;
  /** Code that runs. */
  code: string;
  /** File of the current bundle, or undefined for the synthesized bundle. */
  file?: string;
}

/**
 * Rebuilds the functions when a source changes and reloads the functions whose bundles have changed. After a failed build,
 * all functions keep their previous code.
 *
 * @param workFolder folder for the new bundles
 * @returns a function that stops watching
 */
export async function startWatch(emulator: Emulator, assembly: string, workFolder: string) {
  const folder = join(workFolder, 'bundles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const watched = emulator.template.resources('AWS::Lambda::Function').map((resource): WatchedFunction => ({
    entry: resource.metadata['entry'] as string,
    fn: emulator.functions.get(resource.logicalId)!,
    code: readFileSync(bundleIn(assembly, resource), 'utf8'),
  }));
  const bundler = await createBundler(watched.map(({ entry }) => entry));
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
    const start = performance.now();
    const bundles = await bundler.build();
    const changed = watched.filter(({ entry, code }) => bundles && bundles.get(entry) !== code);
    for (const one of changed) reload(one, bundles!.get(one.entry)!, folder);
    if (changed.length === 0) return;
    emulator.api.flushAuthorizersCache();
    const names = changed.map(({ entry }) => basename(entry, '.ts')).join(', ');
    print(`reloaded ${names} in ${Math.round(performance.now() - start)} ms`);
  }

  // The first build applies changes that were saved after the synthesis started, and fills esbuild's caches.
  working = work().then(() =>
    print('watching the functions (restart to apply changes to the stack, its routes or the local service)'),
  );
  return async function close(): Promise<void> {
    for (const watcher of watchers) watcher.close();
    clearTimeout(timer);
    await working;
    await bundler.dispose();
  };
}

/** Watches each folder separately, because Node's option `recursive` misses changes after an editor replaced a file. */
function watchFolders(onChange: () => void): FSWatcher[] {
  const folders = ['', ...globSync('{functions,shared}/**/', { cwd: projectRoot })];
  return folders.map((folder) => watch(join(projectRoot, folder), onChange).on('error', onChange));
}

/** Creates a bundler, which prints the errors and warnings of a build unless they are those of the previous build. */
async function createBundler(entryPoints: string[]) {
  const bundler = await context({
    ...bundlingOptions,
    absWorkingDir: projectRoot,
    entryPoints,
    outdir: 'bundles',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  let printed = '';
  async function report(messages: PartialMessage[], kind: 'error' | 'warning'): Promise<void> {
    const color = process.stderr.isTTY && process.stderr.hasColors();
    const text = (await formatMessages(messages, { kind, color })).join('').trimEnd();
    if (text === printed) return;
    printed = text;
    if (kind === 'error') print('cannot build the functions (the previous code continues to run)');
    if (text) console.error(text);
  }

  return {
    /** Returns the code of each entry point, or undefined if the build failed. */
    async build(): Promise<Map<string, string> | undefined> {
      try {
        const { outputFiles, metafile, warnings } = await bundler.rebuild();
        const outputs = Object.entries(metafile.outputs);
        const incomplete = outputs.filter(([, { exports }]) => !exports.includes('handler'));
        const errors = incomplete.map(([, { entryPoint }]) => ({
          text: `${entryPoint} does not export handler.`,
        }));
        await (errors.length > 0 ? report(errors, 'error') : report(warnings, 'warning'));
        if (errors.length > 0) return undefined;
        const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
        return new Map(
          outputs.map(([path, { entryPoint }]) => [entryPoint!, texts.get(join(projectRoot, path))!]),
        );
      } catch (error) {
        await report((error as BuildFailure).errors, 'error');
        return undefined;
      }
    },
    dispose: () => bundler.dispose(),
  };
}

/** Replaces a function's code and deletes the previous file when the last instance that uses the file has exited. */
function reload(watched: WatchedFunction, code: string, folder: string): void {
  const { entry, fn, file: previous } = watched;
  const file = join(folder, `${basename(entry, '.ts')}-${Date.now()}.mjs`);
  writeFileSync(file, code);
  Object.assign(watched, { code, file });
  const drained = fn.updateCode(file);
  if (previous) void drained.then(() => rmSync(previous, { force: true }));
}

function print(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}
