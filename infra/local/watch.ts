import { globSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { bundleFunctions, handlerModule } from '../stack/bundling.ts';
import { projectRoot, UsageError } from '../command.ts';
import type { Emulator } from './emulator/emulator.ts';

/**
 * Pause between two comparisons of the sources. A comparison takes 0.3 ms. Editors and version control often save
 * several files in a row, so a build starts only after a pause without changes.
 */
const PAUSE_MILLISECONDS = 50;

/**
 * Rebuilds and reloads the functions when a source changes. After a failed build, the previous code continues to run.
 *
 * @param root folder for the new bundles. The previous content of the folder is deleted.
 * @returns a function that stops watching
 */
export function startWatch({ functions, api }: Emulator, root: string): () => Promise<void> {
  const running = [...functions.values()].map((fn) => ({ name: handlerModule(fn.handler), fn }));
  const debuggers = running.map(({ name, fn }) => fn.inspectPort && `${name} on 127.0.0.1:${fn.inspectPort}`);
  const isForDebugger = debuggers.some(Boolean);
  if (isForDebugger) print(`debuggers can attach to ${debuggers.join(', ')}`);
  rmSync(root, { recursive: true, force: true });
  let loaded = '';
  let folder: string | undefined;
  const closing = new AbortController();

  async function reload(): Promise<void> {
    const start = performance.now();
    const outdir = join(root, Date.now().toString());
    const bundles = await bundleFunctions(outdir, isForDebugger);
    // The name of a bundle contains a hash of its content, so equal names mean that no function has changed.
    const names = [...bundles.values()].map((file) => basename(file)).join();
    if (names === loaded) return rmSync(outdir, { recursive: true });
    const drained = running.map(({ name, fn }) => fn.updateCode(bundles.get(name)!));
    const previous = folder;
    [loaded, folder] = [names, outdir];
    api.flushAuthorizersCache();
    if (!previous) return;
    // The next reload does not wait for slow requests or for requests at a breakpoint.
    void Promise.all(drained).then(() => {
      rmSync(previous, { recursive: true, force: true });
      return print(`reloaded the functions in ${Math.round(performance.now() - start)} ms`);
    });
  }

  async function watch(): Promise<void> {
    // The first build applies changes that were saved after the synthesis started.
    for (let built = '', seen = ''; !closing.signal.aborted; await setTimeout(PAUSE_MILLISECONDS)) {
      const [before, now] = [seen, timesOfSources()];
      seen = now;
      if (now === built || now !== before) continue;
      await reload().catch((error) => {
        if (!(error instanceof UsageError)) throw error;
        print(`${error.message} The previous code continues to run.`);
      });
      if (!built) print('watching the functions (restart for changes to the stack or the local service)');
      built = now;
    }
  }

  const working = watch();
  return async function close(): Promise<void> {
    closing.abort();
    await working;
  };
}

/** Returns a text that differs after each change. `fs.watch` would miss changes after an editor has replaced a file. */
function timesOfSources(): string {
  const files = globSync('{functions,shared}/**', { cwd: projectRoot });
  const times = files.map((file) => statSync(join(projectRoot, file), { throwIfNoEntry: false })?.mtimeMs);
  return JSON.stringify([files, times]);
}

function print(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}
