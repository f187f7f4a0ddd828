import { subscribe } from '@parcel/watcher';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { projectRoot } from '../template/assembly.ts';
import { type Bundler, createBundler } from './bundler.ts';
import type { Bundling } from './bundling.ts';
import { RunnerError } from '../runner-error.ts';
import type { StackSources } from './stack-sources.ts';
import type { UpdatableFunction } from '../lambda/updatable-function.ts';

export interface WatchedFunction extends Bundling {
  fn: UpdatableFunction;
  /** The bundle that it was started with. */
  file: string;
}

interface RebuildOptions {
  functions: WatchedFunction[];
  sources: StackSources;
  /** Of the local service. */
  workFolder: string;
  /** Called when code was swapped. */
  swapped: () => void;
}

const BUNDLES = 'bundles';
/** An empty file is most likely about to be written. */
const EMPTY_MILLISECONDS = 200;
/** Folders of the project that are written to by others than who works on it. */
const NO_SOURCES = ['node_modules', '.git', '.petstore', 'cdk.out'];
/** What the local service writes to all the time; its folder may be that of the project. */
const WRITTEN_FOLDERS = ['tables', 'cdk.out', BUNDLES];

interface Watched extends WatchedFunction {
  bundler: Bundler;
  /** The bundle that runs. */
  code: string;
  isBroken: boolean;
}

/**
 * Rebuilds the bundles of functions whose sources are saved, and swaps their code. What cannot be built is told, and leaves the
 * code before in place.
 *
 * @returns what ends it.
 */
export async function startRebuilds({
  functions,
  sources,
  workFolder,
  swapped,
}: RebuildOptions): Promise<() => Promise<void>> {
  const all: Watched[] = await Promise.all(
    functions.map(async (watched) => ({
      ...watched,
      bundler: await createBundler(watched),
      code: readFileSync(watched.file, 'utf8'),
      isBroken: false,
    })),
  );
  let versions = 0;
  let isClosed = false;
  const folder = join(workFolder, BUNDLES);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });

  /** Puts the function to the code; its instances load it from a file of its own. */
  function swap(watched: Watched, code: string): void {
    versions += 1;
    const { name, fn, file: before } = watched;
    const file = join(folder, `${name}-${versions}.mjs`);
    writeFileSync(file, code);
    Object.assign(watched, { file, code });
    const drained = fn.updateCode(file, (error) => console.error(`${name} cannot be loaded: ${error}`));
    void drained.then(() => before.startsWith(folder) && rmSync(before, { force: true }));
  }

  async function rebuild(affected: Watched[]): Promise<void> {
    const start = performance.now();
    const builds = await Promise.all(
      affected.map(async (watched) => ({ watched, ...(await watched.bundler.build()) })),
    );
    if (isClosed) return;
    // A module with a fault is in several bundles.
    const messages = new Set(builds.flatMap((build) => build.messages));
    const broken = builds.filter(({ code }) => code === undefined).map(({ watched }) => watched);
    const mended = builds.filter(
      ({ watched, code }) => watched.isBroken && code !== undefined && code === watched.code,
    );
    const changed = builds.filter(({ watched, code }) => code !== undefined && code !== watched.code);
    for (const { watched, code } of builds) watched.isBroken = code === undefined;
    for (const { watched, code } of changed) swap(watched, code!);
    if (changed.length > 0) swapped();

    const milliseconds = Math.round(performance.now() - start);
    if (changed.length > 0) say(`swapped ${names(changed.map((one) => one.watched))} in ${milliseconds} ms`);
    if (mended.length > 0) say(`${names(mended.map((one) => one.watched))} can be built again, unchanged`);
    if (broken.length > 0) {
      complain(`cannot build ${names(broken)}: what was built before goes on serving`);
    }
    for (const message of messages) console.error(message.trimEnd());
  }

  /** Of a folder that was renamed or put in the place of another, nothing within is reported. */
  function knownFiles(paths: string[]): Set<string> {
    const known = new Set([...sources.files, ...all.flatMap(({ bundler }) => bundler.inputs())]);
    return new Set(
      [...known].filter((file) => paths.some((path) => file === path || file.startsWith(`${path}/`))),
    );
  }

  const pending = new Set<string>();
  let working: Promise<void> | undefined;

  /** One after the other: of what is saved meanwhile, the last state is built. */
  async function work(): Promise<void> {
    while (pending.size > 0) {
      if (Array.from(pending).some(isEmpty)) await setTimeout(EMPTY_MILLISECONDS);
      const paths = [...pending];
      pending.clear();
      if (isClosed) continue;
      const files = knownFiles(paths);
      const affected = all.filter(({ bundler }) => bundler.dependsOn(files));
      await rebuild(affected).catch(complainOf);
      const bundled = new Set(all.flatMap(({ bundler }) => bundler.inputs()));
      for (const notice of sources.notices(files, bundled)) say(notice);
    }
    working = undefined;
  }

  const subscription = await subscribe(
    projectRoot,
    (error, events) => {
      if (error) complainOf(error);
      for (const { path } of events) pending.add(relative(projectRoot, path).replaceAll('\\', '/'));
      working ??= work();
    },
    { ignore: [...NO_SOURCES, ...WRITTEN_FOLDERS.map((name) => join(workFolder, name))] },
  ).catch((error: unknown) => {
    throw new RunnerError(
      `The sources cannot be watched (${(error as Error).message}): start without --watch, or raise the system's limit (on Linux fs.inotify.max_user_watches).`,
    );
  });
  // What was saved since the synthesis began is swapped by this, and of all else the first build makes the next ones fast.
  working = rebuild(all)
    .catch(complainOf)
    .then(() => {
      say('watching for what is saved');
      return work();
    });

  return async function close() {
    isClosed = true;
    await subscription.unsubscribe();
    await working;
    await Promise.all(all.map(({ bundler }) => bundler.close()));
  };
}

function isEmpty(path: string): boolean {
  return statSync(join(projectRoot, path), { throwIfNoEntry: false })?.size === 0;
}

function names(functions: WatchedFunction[]): string {
  return functions.map(({ name }) => name).join(', ');
}

function say(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}

/** Of what is no fault of the sources: a full disk, for one. */
function complainOf(error: unknown): void {
  complain(`cannot swap: ${String(error)}`);
}

function complain(text: string): void {
  console.error(`${new Date().toISOString()} ${text}`);
}
