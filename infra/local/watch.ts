import { globSync, rmSync, statSync } from 'node:fs';
import { join, parse } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { bundleFunctions } from '../stack/bundling.ts';
import { projectRoot, UsageError } from '../command.ts';
import type { Emulator } from './emulator/emulator.ts';
import { debuggerAddress } from './emulator/lambda/runtime.ts';

/**
 * Pause between two comparisons of the sources. A comparison takes 0.3 ms. Editors and version control often save
 * several files in a row, so a build starts only after a pause without changes.
 */
const PAUSE_MILLISECONDS = 50;

/**
 * Rebuilds and reloads the functions when a source changes. After a failed build, the previous code continues to run. The
 * stack and the documentation are not reloaded.
 *
 * @param root folder for the new bundles. The previous content of the folder is deleted.
 * @returns a function that stops watching
 */
export function startWatch(
  { functions, api, databaseEndpoint }: Emulator,
  root: string,
): () => Promise<void> {
  const running = [...functions.values()].map((fn) => ({ name: parse(fn.handler).name, fn }));
  const debugged = running.filter(({ fn }) => fn.inspectPort);
  if (debugged.length > 0) {
    const places = debugged.map(({ name, fn }) => {
      return `${name} on ${debuggerAddress({ databaseEndpoint, inspectPort: fn.inspectPort! })}`;
    });
    print(`debuggers can attach to ${places.join(', ')}`);
  }
  rmSync(root, { recursive: true, force: true });
  const closing = new AbortController();
  /** Folder of the bundles that the functions run, after the first build. */
  let loaded: string | undefined;

  async function reload(): Promise<void> {
    const start = performance.now();
    const folder = join(root, Date.now().toString());
    const bundles = await bundleFunctions(folder);
    const drained = running.map(({ name, fn }) => fn.updateCode(bundles.get(name)!));
    const previous = loaded;
    loaded = folder;
    api.flushAuthorizersCache();
    // The next reload does not wait for slow requests or for requests at a breakpoint.
    if (previous) void finishReload(drained, previous, start);
  }

  async function reloadOrReport(): Promise<void> {
    try {
      await reload();
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      print(`${error.message} The previous code continues to run.`);
    }
  }

  async function watch(): Promise<void> {
    let built = '';
    let previous = '';
    while (!closing.signal.aborted) {
      const current = timesOfSources();
      const isStable = current === previous;
      previous = current;
      if (isStable && current !== built) {
        // The first build applies changes that were saved after the synthesis started.
        await reloadOrReport();
        if (!built) print('watching functions and shared (restart to change the stack or the documentation)');
        built = current;
      }
      await setTimeout(PAUSE_MILLISECONDS);
    }
  }

  const watching = watch();
  return async function close(): Promise<void> {
    closing.abort();
    await watching;
  };
}

/** Deletes the previous bundles when all instances that run them have exited. `start` is the time at which the build started. */
async function finishReload(drained: Promise<void>[], previousFolder: string, start: number): Promise<void> {
  await Promise.all(drained);
  rmSync(previousFolder, { recursive: true, force: true });
  print(`reloaded the functions in ${Math.round(performance.now() - start)} ms`);
}

/**
 * Returns a text that differs after each change of a source. `fs.watch` would miss changes after an editor has replaced
 * a file.
 */
function timesOfSources(): string {
  const files = globSync('{functions,shared}/**', { cwd: projectRoot });
  const times = files.map((file) => statSync(join(projectRoot, file), { throwIfNoEntry: false })?.mtimeMs);
  return JSON.stringify([files, times]);
}

function print(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}
