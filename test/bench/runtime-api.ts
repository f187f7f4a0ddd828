import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const CALL = /^\/2018-06-01\/runtime\/(init\/error|invocation\/(?:next|[\w-]+\/(?:response|error)))$/;
/** How long the function may take, for `getRemainingTimeInMillis`. */
const TIMEOUT_MILLISECONDS = 10_000;

export interface Answer {
  /** What the function gave, as JSON. */
  result: string;
  /** Until it was there, from the moment the runtime was given the event. */
  milliseconds: number;
  /** Until the runtime asked for the next event: that ends what Lambda charges. */
  busyMilliseconds: number;
}

export interface RuntimeApi {
  /** `host:port`, for `AWS_LAMBDA_RUNTIME_API`. */
  address: string;
  /** Resolves when the runtime asks for its first event: then the function is initialised. */
  ready: Promise<unknown>;
  /** Gives the runtime its next event; rejects when the function fails. One at a time. */
  invoke: (event: string) => Promise<Answer>;
  /** Ends with this error whatever is waited for, now and later: the runtime will ask for nothing more. */
  fail: (error: Error) => void;
  close: () => void;
}

/**
 * The API that Lambda offers to the runtime of one instance.
 * https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
 */
export async function startRuntimeApi(): Promise<RuntimeApi> {
  let next = Promise.withResolvers<ServerResponse>();
  let answer = Promise.withResolvers<string>();
  const failure = Promise.withResolvers<never>();
  // Whoever waits is told, and nobody need.
  failure.promise.catch(() => {});
  let invocations = 0;

  const unlessFailed = <Value>(value: Promise<Value>) => Promise.race([failure.promise, value]);

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, call] = CALL.exec(request.url ?? '') ?? [];
    if (call === 'invocation/next') return next.resolve(response);
    const body = await text(request);
    response.writeHead(call ? 202 : 404, { 'Content-Type': 'application/json' }).end('{}');
    if (call?.endsWith('/response')) return answer.resolve(body);
    if (call === 'init/error') return failure.reject(new Error(`The function failed in init: ${body}`));
    if (call) return answer.reject(new Error(`The function failed: ${body}`));
    failure.reject(new Error(`The runtime called what there is not: ${request.method} ${request.url}.`));
  }

  const server = createServer((request, response) => {
    // A function that dies while it answers ends its connection.
    handle(request, response).catch(failure.reject);
  });
  server.keepAliveTimeout = 0; // an instance may wait for long
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    ready: unlessFailed(next.promise),
    async invoke(event) {
      const response = await unlessFailed(next.promise);
      next = Promise.withResolvers();
      answer = Promise.withResolvers();
      invocations += 1;
      const start = performance.now();
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Lambda-Runtime-Aws-Request-Id': `8476a536-e9f4-11e8-9739-${invocations.toString().padStart(12, '0')}`,
        'Lambda-Runtime-Deadline-Ms': Date.now() + TIMEOUT_MILLISECONDS,
        'Lambda-Runtime-Invoked-Function-Arn': 'arn:aws:lambda:us-east-1:000000000000:function:bench:live',
        'Lambda-Runtime-Trace-Id':
          'Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=0',
      });
      response.end(event);
      const result = await unlessFailed(answer.promise);
      const milliseconds = performance.now() - start;
      await unlessFailed(next.promise);
      return { result, milliseconds, busyMilliseconds: performance.now() - start };
    },
    fail: failure.reject,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
