import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import type { Invocation } from './invocation.ts';

// One instance of a function: loads the bundle, then answers one event after the other.

interface WorkerData {
  file: string;
  exportName: string;
  functionName: string;
  memoryLimitInMB: number;
}

const { file, exportName, functionName, memoryLimitInMB } = workerData as WorkerData;
const bundle = (await import(pathToFileURL(file).href)) as Record<
  string,
  (...parameters: unknown[]) => unknown
>;
const handler = bundle[exportName];
if (!handler) throw new Error(`${file} does not export ${exportName}.`);

parentPort?.on('message', async ({ event, deadline }: { event: unknown; deadline: number }) => {
  const context = {
    awsRequestId: randomUUID(),
    functionName,
    functionVersion: '1',
    memoryLimitInMB: memoryLimitInMB.toString(),
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  const outcome = await outcomeOf(() => handler(event, context));
  await written();
  parentPort?.postMessage(outcome);
});

async function outcomeOf(invoke: () => unknown): Promise<Invocation> {
  try {
    // As Lambda does, the result crosses as JSON, and what JSON cannot say is an error of the function.
    return { result: JSON.stringify(await invoke()) ?? 'null' };
  } catch (error) {
    return { error: inspect(error) };
  }
}

/** What the function wrote has arrived before its answer does: the instance may be ended then. */
async function written(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve));
  }
}
