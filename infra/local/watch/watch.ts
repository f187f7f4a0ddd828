import { readBundlings } from './bundling.ts';
import type { LambdaFunction, RunningFunction } from '../lambda/lambda.ts';
import { startRebuilds } from './rebuilds.ts';
import { readStackSources } from './stack-sources.ts';
import { createUpdatableFunction, type UpdatableFunction } from '../lambda/updatable-function.ts';

// `npm start -- --watch`: runs the functions by what is saved, as it is saved.

export interface Watch {
  /**
   * A function whose code is swapped from the start on.
   *
   * @param run runs it with the bundle in a file.
   * @param file the bundle to begin with.
   */
  updatable: (logicalId: string, run: (file: string) => RunningFunction, file: string) => LambdaFunction;
  /**
   * @param assembly folder of the cloud assembly that the functions come from.
   * @param swapped is called when new code was put in place.
   * @returns what ends it.
   */
  start: (assembly: string, swapped: () => void) => Promise<() => Promise<void>>;
}

/**
 * To be called before the synthesis, so that no later change is missed.
 *
 * @param folder of the local service; the bundles that are made go there: those in the assembly stay as they were synthesized.
 */
export async function prepareWatch(stage: string, folder: string): Promise<Watch> {
  const sources = await readStackSources();
  const functions = new Map<string, { fn: UpdatableFunction; file: string }>();
  return {
    updatable(logicalId, run, file) {
      const fn = createUpdatableFunction(run, file);
      functions.set(logicalId, { fn, file });
      return fn;
    },
    async start(assembly, swapped) {
      const bundlings = readBundlings(stage, assembly);
      return startRebuilds({
        functions: Array.from(functions, ([logicalId, running]) => ({
          ...running,
          ...bundlings.get(logicalId)!,
        })),
        sources,
        workFolder: folder,
        swapped,
      });
    },
  };
}
