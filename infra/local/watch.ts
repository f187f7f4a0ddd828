import { type FSWatcher, globSync, rmSync, watch } from 'node:fs';
import { basename, join } from 'node:path';
import { bundleFunctions, handlerModule } from '../stack/bundling.ts';
import { projectRoot, UsageError } from '../command.ts';
import type { Emulator } from './emulator/emulator.ts';

/** Editors and version control often save several files in a row. A build then contains all of these changes. */
const QUIET_MILLISECONDS = 50;

/**
 * Rebuilds and reloads the functions when a source changes. After a failed build, the previous code continues to run.
 *
 * @param root folder for the new bundles, which is emptied
 * @returns a function that stops watching
 */
export async function startWatch({ functions, api }: Emulator, root: string) {
  const running = [...functions.values()].map((fn) => ({ name: handlerModule(fn.handler), fn }));
  const debuggers = running.map(({ name, fn }) => fn.inspectPort && `${name} on 127.0.0.1:${fn.inspectPort}`);
  const isForDebugger = debuggers.some(Boolean);
  if (isForDebugger) print(`debuggers can attach to ${debuggers.join(', ')}`);
  rmSync(root, { recursive: true, force: true });
  let watchers = watchFolders(onChange);
  let timer: NodeJS.Timeout | undefined;
  let loaded = '';
  let folder: string | undefined;

  function onChange(): void {
    clearTimeout(timer);
    timer = setTimeout(() => (working = working.then(work)), QUIET_MILLISECONDS);
  }

  async function work(): Promise<void> {
    try {
      // Folders can be new or replaced. The build follows, so no change between the old and new watchers is missed.
      const previous = watchers;
      watchers = watchFolders(onChange);
      for (const watcher of previous) watcher.close();
      await reload();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      print(`${error.message} The previous code continues to run.`);
    }
  }

  async function reload(): Promise<void> {
    const start = performance.now();
    const outdir = join(root, Date.now().toString());
    const bundles = await bundleFunctions(outdir, isForDebugger);
    // The name of a bundle contains a hash of its content.
    const names = [...bundles.values()].map((file) => basename(file)).join();
    if (names === loaded) return rmSync(outdir, { recursive: true });
    const drained = running.map(({ name, fn }) => fn.updateCode(bundles.get(name)!));
    const previous = folder;
    [loaded, folder] = [names, outdir];
    api.flushAuthorizersCache();
    if (!previous) return;
    // The next reload does not wait for slow requests, or for a debugger.
    void Promise.all(drained).then(() => {
      rmSync(previous, { recursive: true, force: true });
      return print(`reloaded the functions in ${Math.round(performance.now() - start)} ms`);
    });
  }

  // The first build applies changes that were saved after the synthesis started.
  let working = work().then(() =>
    print('watching the functions (restart to apply changes to the stack, its routes or the local service)'),
  );
  return async function close(): Promise<void> {
    for (const watcher of watchers) watcher.close();
    clearTimeout(timer);
    await working;
  };
}

/**
 * Watches each folder separately, because Node's option `recursive` misses changes after an editor replaced a file.
 *
 * @throws UsageError if the system cannot watch the folders.
 */
function watchFolders(onChange: () => void): FSWatcher[] {
  const folders = ['', ...globSync('{functions,shared}/**/', { cwd: projectRoot })];
  return folders.flatMap((folder) => {
    try {
      return watch(join(projectRoot, folder), onChange).on('error', onChange);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return []; // The change of the parent folder causes another round.
      const remedy =
        "Start without --watch or --inspect, or raise the system's limit (on Linux, fs.inotify.max_user_watches).";
      throw new UsageError(`The sources cannot be watched (${message}). ${remedy}`);
    }
  });
}

function print(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}
