import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import type { Invocation } from './instance.ts';

const { file, exportName, functionName, memoryLimitInMB } = workerData;
const { [exportName]: handler } = await import(pathToFileURL(file).href);
if (!handler) throw new Error(`${file} does not export ${exportName}.`);

parentPort?.on('message', async ({ event, deadline }: { event: unknown; deadline: number }) => {
  const context = {
    awsRequestId: randomUUID(),
    functionName,
    functionVersion: '1',
    memoryLimitInMB: memoryLimitInMB.toString(),
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  const invocation = await invoke(() => handler(event, context));
  await written();
  parentPort?.postMessage(invocation);
});

async function invoke(call: () => unknown): Promise<Invocation> {
  try {
    // As on Lambda, a result that cannot be serialized as JSON is an error in the function.
    return { result: JSON.stringify(await call()) ?? 'null' };
  } catch (error) {
    return { error: inspect(error) };
  }
}

/** Waits until the output has been written, because the instance can be terminated after it returns a result. */
async function written(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve));
  }
}
