import { build, type OutputFile } from 'esbuild';
import { existsSync, type FSWatcher, globSync, mkdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundlingOptions, projectRoot } from '../stack/bundling.ts';
import { UsageError } from '../command.ts';
import type { Emulator } from './emulator/emulator.ts';

/** Editors and version control often save several files in a row. A build then contains all of these changes. */
const QUIET_MILLISECONDS = 50;

/**
 * Rebuilds and reloads the functions when a source changes. After a failed build, the previous code continues to run.
 *
 * @param workFolder folder for the new bundles
 * @returns a function that stops watching
 */
export async function startWatch({ template, functions, api }: Emulator, workFolder: string) {
  const entries = template.resources('AWS::Lambda::Function').map(({ logicalId, metadata }) => ({
    entry: metadata['entry'] as string,
    fn: functions.get(logicalId)!,
  }));
  const root = join(workFolder, 'bundles');
  rmSync(root, { recursive: true, force: true });
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;
  let hashes = '';
  let folder: string | undefined;

  function onChange(): void {
    clearTimeout(timer);
    timer = setTimeout(() => (working = working?.then(work)), QUIET_MILLISECONDS);
  }

  async function work(): Promise<void> {
    // Folders can be new or replaced. The build follows, so no change between the old and new watchers is missed.
    for (const watcher of watchers) watcher.close();
    watchers = watchFolders(onChange);
    const start = performance.now();
    const outdir = join(root, Date.now().toString());
    const files = await bundle(
      entries.map(({ entry }) => entry),
      outdir,
    );
    if (!files) return print('cannot build the functions (the previous code continues to run)');
    const newHashes = files.map(({ hash }) => hash).join();
    if (newHashes === hashes) return;
    mkdirSync(outdir, { recursive: true });
    for (const { path, contents } of files) writeFileSync(path, contents);
    const drained = entries.map(({ entry, fn }) =>
      fn.updateCode(join(outdir, `${basename(entry, '.ts')}.mjs`)),
    );
    const previous = folder;
    if (previous) void Promise.all(drained).then(() => rmSync(previous, { recursive: true, force: true }));
    [hashes, folder] = [newHashes, outdir];
    api.flushAuthorizersCache();
    if (previous) print(`reloaded the functions in ${Math.round(performance.now() - start)} ms`);
  }

  try {
    watchers = watchFolders(onChange);
  } catch (error) {
    const remedy =
      "Start without --watch, or raise the system's limit (on Linux, fs.inotify.max_user_watches).";
    throw new UsageError(`The sources cannot be watched (${(error as Error).message}). ${remedy}`);
  }
  // The first build applies changes that were saved after the synthesis started.
  working = work().then(() =>
    print('watching the functions (restart to apply changes to the stack, its routes or the local service)'),
  );
  return async function close(): Promise<void> {
    for (const watcher of watchers) watcher.close();
    clearTimeout(timer);
    await working;
  };
}

/** Watches each folder separately, because Node's option `recursive` misses changes after an editor replaced a file. */
function watchFolders(onChange: () => void): FSWatcher[] {
  const folders = ['', ...globSync('{functions,shared}/**/', { cwd: projectRoot })];
  // A folder can vanish between these two calls. The change of its parent folder then causes another round.
  const present = folders.map((folder) => join(projectRoot, folder)).filter((folder) => existsSync(folder));
  return present.map((folder) => watch(folder, onChange).on('error', onChange));
}

/** Returns the bundles, or undefined if the build failed. esbuild prints the errors and warnings. */
async function bundle(entryPoints: string[], outdir: string): Promise<OutputFile[] | undefined> {
  const result = await build({
    ...bundlingOptions,
    absWorkingDir: projectRoot,
    entryPoints,
    outdir,
    outExtension: { '.js': '.mjs' },
    write: false,
    metafile: true,
  }).catch(() => undefined);
  const outputs = Object.values(result?.metafile.outputs ?? {});
  const incomplete = outputs.find(({ exports }) => !exports.includes('handler'));
  if (incomplete) console.error(`${incomplete.entryPoint} does not export handler.`);
  return incomplete ? undefined : result?.outputFiles;
}

function print(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}
