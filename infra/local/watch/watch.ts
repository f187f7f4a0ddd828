import { type AsyncSubscription, subscribe } from '@parcel/watcher';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Bundler, createBundler, readBundlings } from './bundles.ts';
import { bundleIn, type RunningFunction } from '../lambda/lambda.ts';
import { UsageError } from '../../operate/command.ts';
import { projectRoot } from '../template/assembly.ts';
import type { Template } from '../template/template.ts';

// `npm start -- --watch`: hot reload of the functions.

export interface WatchOptions {
  stage: string;
  template: Template;
  assembly: string;
  functions: Map<string, RunningFunction>;
  workFolder: string;
  onSwap: () => void;
}

interface WatchedFunction {
  name: string;
  fn: RunningFunction;
  bundler: Bundler;
  /** The code, or the errors, of the latest build. */
  outcome: string;
  /** File of the bundle that runs, unless it is the synthesized one. */
  file?: string;
}

/** Folders of the project that do not hold sources. */
const NO_SOURCES = ['node_modules', '.git', '.petstore', 'cdk.out'];
/** Folders that the local service writes to, in its own folder, which may be that of the project. */
const WRITTEN_FOLDERS = ['tables', 'cdk.out', 'bundles'];

/** Rebuilds the functions whose sources are saved, and swaps their code, until the returned function is called. */
export async function startWatch(options: WatchOptions): Promise<() => Promise<void>> {
  const folder = join(options.workFolder, 'bundles');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const functions = await readFunctions(options);
  const changed = new Set<string>();
  let working: Promise<void> | undefined;

  /** One update after another, so that the last state of the sources is built. */
  async function work(): Promise<void> {
    while (changed.size > 0) {
      const paths = [...changed];
      changed.clear();
      const affected = functions.filter(({ bundler }) => bundler.dependsOn(paths));
      await rebuild(affected, folder, options.onSwap);
    }
    working = undefined;
  }

  const subscription = await watchSources(options.workFolder, (paths) => {
    for (const path of paths) changed.add(path);
    working ??= work();
  });
  // Swaps what was saved since the synthesis began, and fills the caches of esbuild.
  working = rebuild(functions, folder, options.onSwap).then(() => {
    say('watching the functions: changes of the stack, its routes or the local service need a restart');
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

/** Watches the project; `onChange` gets relative paths. @throws UsageError if the system cannot watch it. */
export async function watchSources(
  workFolder: string,
  onChange: (paths: string[]) => void,
): Promise<AsyncSubscription> {
  const ignore = [...NO_SOURCES, ...WRITTEN_FOLDERS.map((name) => join(workFolder, name))];
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
      `The sources cannot be watched (${(error as Error).message}): start without --watch, or raise the system's limit (on Linux fs.inotify.max_user_watches).`,
    );
  }
}

/**
 * Rebuilds the bundles of functions, and swaps the code of those whose bundle changed or failed before. A function that
 * cannot be built keeps its code, and its errors are printed once.
 */
async function rebuild(functions: WatchedFunction[], folder: string, onSwap: () => void): Promise<void> {
  const start = performance.now();
  const builds = await Promise.all(functions.map(({ bundler }) => bundler.build()));
  const [swapped, broken]: [string[], string[]] = [[], []];
  const printed = new Set<string>(); // a faulty module may be in several bundles
  for (const [index, watched] of functions.entries()) {
    const { code, messages } = builds[index]!;
    const outcome = code ?? messages.join('');
    if (outcome === watched.outcome) continue;
    watched.outcome = outcome;
    for (const message of messages) printed.add(message);
    if (code !== undefined) swap(watched, code, folder);
    (code === undefined ? broken : swapped).push(watched.name);
  }
  if (swapped.length > 0) onSwap();

  const milliseconds = Math.round(performance.now() - start);
  if (swapped.length > 0) say(`swapped ${swapped.join(', ')} in ${milliseconds} ms`);
  if (broken.length > 0) say(`cannot build ${broken.join(', ')}: the previous code continues to run`);
  for (const message of printed) console.error(message.trimEnd());
}

/** Gives a function new code. Its instances load it from a file of its own, which is removed when they have ended. */
function swap(watched: WatchedFunction, code: string, folder: string): void {
  const { name, fn, file: previous } = watched;
  watched.file = join(folder, `${name}-${Date.now()}.mjs`);
  writeFileSync(watched.file, code);
  const drained = fn.updateCode(watched.file);
  if (previous) void drained.then(() => rmSync(previous, { force: true }));
}

function say(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}
