import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import type { Invocation } from './lambda.ts';

// This module runs in a worker thread or, for debuggers, in a child process, in which `parentPort` is null.
const [, , file = '', handlerName = '', memoryLimitInMB] = process.argv;
const exportName = handlerName.split('.')[1]!;
const { [exportName]: handler } = await import(pathToFileURL(file).href);
if (!handler) throw new Error(`${file} does not export ${exportName}.`);

process.once('disconnect', () => process.exit()); // The parent process has been killed.
(parentPort ?? process).on('message', async ({ event, deadline }: { event: unknown; deadline: number }) => {
  const context = {
    awsRequestId: randomUUID(),
    functionName: process.env['AWS_LAMBDA_FUNCTION_NAME'],
    functionVersion: '1',
    memoryLimitInMB,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  const invocation: Invocation = await Promise.try(handler, event, context)
    // As on Lambda, a result that cannot be serialized as JSON is an error in the function.
    .then((result) => ({ result: JSON.stringify(result) ?? 'null' }))
    .catch((error) => ({ error: inspect(error) }));
  // The output is written before the result, because the instance can be terminated after the result.
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve));
  }
  if (parentPort) parentPort.postMessage(invocation);
  else process.send!(invocation);
});
