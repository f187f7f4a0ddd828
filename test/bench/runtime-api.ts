import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenOnLoopback } from '../support/loopback.ts';

/** Function timeout from which `getRemainingTimeInMillis` counts down. */
const TIMEOUT_MILLISECONDS = 10_000;

export interface Invocation {
  /** The function's return value, as JSON. */
  result: string;
  milliseconds: number;
  /** Billed time, which ends when the runtime requests the next event. */
  busyMilliseconds: number;
}

/** Starts the Runtime API of one instance. https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html */
export async function startRuntimeApi() {
  let next = Promise.withResolvers<ServerResponse>();
  let result = Promise.withResolvers<string>();
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {}); // prevents an unhandled rejection while nothing awaits it
  const unlessFailed = <Value>(value: Promise<Value>) => Promise.race([failure.promise, value]);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = (request.url ?? '').replace('/2018-06-01/runtime/', '');
    if (call === 'invocation/next') return next.resolve(response);
    const body = await text(request);
    response.writeHead(202, { 'Content-Type': 'application/json' }).end('{}');
    if (call.endsWith('/response')) return result.resolve(body);
    failure.reject(new Error(`The function failed (${call}): ${body}`));
  }

  const server = createServer((request, response) => {
    // If a function exits while it sends its result, the connection breaks and `handle` rejects.
    handle(request, response).catch(failure.reject);
  });
  server.keepAliveTimeout = 0; // an instance can be idle for a long time
  const { origin, close } = await listenOnLoopback(server);

  return {
    /** `host:port`, for `AWS_LAMBDA_RUNTIME_API`. */
    address: origin.replace('http://', ''),
    /** Resolves at the end of init, when the runtime requests its first event. */
    ready: unlessFailed(next.promise),
    /** Sends an event to the runtime. Rejects if the function fails. Invocations must not overlap. */
    invoke: async (event: string): Promise<Invocation> => {
      const response = await unlessFailed(next.promise);
      next = Promise.withResolvers();
      result = Promise.withResolvers();
      const start = performance.now();
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Lambda-Runtime-Aws-Request-Id': '8476a536-e9f4-11e8-9739-2dfe598c3fcd',
        'Lambda-Runtime-Deadline-Ms': Date.now() + TIMEOUT_MILLISECONDS,
        'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:us-east-1:000000000000:function:bench:live',
        'Lambda-Runtime-Trace-Id':
          'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0',
      });
      response.end(event);
      const resultText = await unlessFailed(result.promise);
      const milliseconds = performance.now() - start;
      await unlessFailed(next.promise);
      return { result: resultText, milliseconds, busyMilliseconds: performance.now() - start };
    },
    /** Rejects `ready` and all invocations. Must be called when the runtime has exited. */
    fail: failure.reject,
    close,
  };
}
