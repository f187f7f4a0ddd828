import { writeSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

// Code that loops without end can keep the thread of the simulation busy, so that neither a timer nor Jest's time limit
// ends it. A second thread then prints what the simulation was doing, and ends the process.

/**
 * Seconds after which a step counts as endless. Steps take milliseconds, but a machine can be busy. StrykerJS ends a
 * mutant after about 30 seconds and counts it as detected, so the limit is longer.
 */
const MAX_SECONDS = 60;
const MEMORY_BYTES = 32_768;

const memory = isMainThread ? new SharedArrayBuffer(MEMORY_BYTES) : (workerData as SharedArrayBuffer);
/** Number of steps until now, and number of bytes of the text. */
const counts = new Int32Array(memory, 0, 2);
const text = Buffer.from(memory, counts.byteLength);

/** Tells the watchdog that a step starts. @param step description of the step, or an empty text if no step follows */
export function showStep(step: string): void {
  Atomics.add(counts, 0, 1);
  Atomics.store(counts, 1, text.write(step));
}

/** Compares the number of steps every second. Seconds in which the whole process is suspended do not count. */
function watch(): void {
  let last = 0;
  let seconds = 0;
  setInterval(() => {
    const [steps = 0, length = 0] = counts;
    seconds = steps === last && length > 0 ? seconds + 1 : 0;
    last = steps;
    if (seconds < MAX_SECONDS) return;
    const step = text.toString('utf8', 0, length);
    writeSync(
      2,
      `\nA step of the simulation does not end, probably because code loops without end.\n${step}\n`,
    );
    process.kill(process.pid, 'SIGKILL');
  }, 1_000);
}

// The arguments of the process, such as --require, are only for its main thread.
if (isMainThread) new Worker(new URL(import.meta.url), { workerData: memory, execArgv: [] }).unref();
else watch();
