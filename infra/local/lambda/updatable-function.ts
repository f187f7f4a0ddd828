import type { LambdaFunction, RunningFunction } from './lambda.ts';

/** A function whose code can be replaced while it serves. */
export interface UpdatableFunction extends LambdaFunction {
  /**
   * Gives new events to the bundle in the file. Ends the instances of the code before when they have answered what they were
   * given, and resolves then.
   *
   * @param fail is handed what goes wrong with an instance before its first event.
   */
  updateCode: (file: string, fail: (error: string) => void) => Promise<void>;
}

/** @param run runs the function with the bundle in the file. */
export function createUpdatableFunction(
  run: (file: string) => RunningFunction,
  file: string,
): UpdatableFunction {
  interface Version {
    fn: RunningFunction;
    inFlight: Set<Promise<unknown>>;
  }
  const running = new Set<Version>();

  function begin(bundle: string): Version {
    const version = { fn: run(bundle), inFlight: new Set<Promise<unknown>>() };
    running.add(version);
    return version;
  }

  let current = begin(file);
  let isUsed = false;

  return {
    async invoke(event) {
      isUsed = true;
      const { fn, inFlight } = current;
      const invocation = fn.invoke(event);
      inFlight.add(invocation);
      try {
        return await invocation;
      } finally {
        inFlight.delete(invocation);
      }
    },
    async updateCode(bundle, fail) {
      const before = current;
      current = begin(bundle);
      // Whoever works on it sees at once what cannot be loaded; and the first event need not wait for an instance.
      if (isUsed) current.fn.init(fail);
      await Promise.allSettled(before.inFlight);
      await before.fn.close();
      running.delete(before);
    },
    async close() {
      await Promise.all([...running].map(({ fn }) => fn.close()));
    },
  };
}
