import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import type { Invocation } from './instance.ts';

/**
 * Lambda's maximum size of a result in bytes. Lambda's error message contains this number, although Lambda documents 6 MB.
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const MAX_RESULT_BYTES = 6_291_556;

// This module runs in a worker thread or, for debuggers, in a child process, in which `parentPort` is null.
const [file = '', handlerPath = '', memoryLimitInMB] = process.argv.slice(2);
const exportName = handlerPath.split('.')[1]!; // such as `handler` in `get-book.handler`
const module = await import(pathToFileURL(file).href);
const handler = module[exportName];
if (!handler) throw new Error(`${file} does not export ${exportName}.`);

async function invoke(event: unknown, deadline: number): Promise<Invocation> {
  const context = {
    awsRequestId: randomUUID(),
    functionName: process.env['AWS_LAMBDA_FUNCTION_NAME'],
    functionVersion: '1',
    memoryLimitInMB,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  try {
    const result = await handler(event, context);
    // As on Lambda, a result that cannot be serialized as JSON is an error in the function.
    const text = JSON.stringify(result) ?? 'null';
    if (Buffer.byteLength(text) <= MAX_RESULT_BYTES) return { result: text };
    const problem = `Response payload size exceeded maximum allowed payload size (${MAX_RESULT_BYTES} bytes).`;
    return { error: `Function.ResponseSizeTooLarge: ${problem}` };
  } catch (error) {
    return { error: inspect(error) };
  }
}

async function flush(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength > 0) await new Promise((resolve) => stream.write('', resolve));
}

process.once('disconnect', () => process.exit()); // The parent process has been killed.
(parentPort ?? process).on('message', async ({ event, deadline }: { event: unknown; deadline: number }) => {
  const invocation = await invoke(event, deadline);
  // The output is written before the result, because the instance can be terminated after the result.
  await flush(process.stdout);
  await flush(process.stderr);
  if (parentPort) parentPort.postMessage(invocation);
  else process.send!(invocation);
});
