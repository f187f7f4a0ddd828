import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { listenOnLoopback } from './loopback.ts';

/** Delay that exceeds the timeout of an attempt in shared/storage/database.ts. */
const TOO_LONG_MILLISECONDS = 2_000;
/** Duration of an outage. The SDK waits up to 25 ms before its first retry, so some retries fail too. */
const OUTAGE_MILLISECONDS = 20;

type ApiResponse = Awaited<ReturnType<typeof passOn>>;

interface Call {
  request: http.IncomingMessage;
  response: http.ServerResponse;
  server: http.Server;
  /** Forwards the call to the database and returns the response. */
  execute: () => Promise<ApiResponse>;
}

const faults = {
  async 'connections refused for 20 ms'({ request, server }: Call) {
    const { port } = server.address() as AddressInfo;
    request.socket.resetAndDestroy();
    server.close();
    await setTimeout(OUTAGE_MILLISECONDS);
    server.listen(port, '127.0.0.1').unref();
  },
  async 'connection reset before execution'({ request }: Call) {
    request.socket.resetAndDestroy();
  },
  async 'response lost after execution'({ request, execute }: Call) {
    await execute();
    request.socket.destroy();
  },
  async 'execution after the timeout'({ request, execute }: Call) {
    await setTimeout(TOO_LONG_MILLISECONDS, undefined, { ref: false });
    await execute();
    request.socket.destroy();
  },
  async 'response after the timeout'({ response, execute }: Call) {
    const reply = await execute();
    await setTimeout(TOO_LONG_MILLISECONDS, undefined, { ref: false });
    send(response, reply);
  },
  async 'response body slower than the timeout'({ response, execute }: Call) {
    const { status, headers, body } = await execute();
    response.writeHead(status, headers);
    for (const byte of body) {
      await setTimeout(TOO_LONG_MILLISECONDS / body.length, undefined, { ref: false });
      if (response.destroyed) return;
      response.write(Buffer.of(byte));
    }
    response.end();
  },
  async '500 response after execution'({ response, execute }: Call) {
    await execute();
    send(response, exception(500, 'InternalServerError'));
  },
  async 'throttling error'({ response }: Call) {
    send(response, exception(400, 'ProvisionedThroughputExceededException'));
  },
  async 'half a response after execution'({ response, execute }: Call) {
    const { status, headers, body } = await execute();
    response.writeHead(status, headers);
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  },
  async 'empty response after execution'({ response, execute }: Call) {
    send(response, { ...(await execute()), body: Buffer.of() });
  },
};

export type Fault = keyof typeof faults;
export const faultNames = Object.keys(faults) as Fault[];

/** Returns the fault to inject into a database call, or undefined. `call` counts from 1. `read` returns the call's body. */
export type ChooseFault = (
  call: number,
  read: () => Promise<string>,
) => Fault | undefined | Promise<Fault | undefined>;

/** Starts a proxy that injects faults between the SDK and the database at the URL `target`. */
export async function startFaultProxy(target: string, chooseFault: ChooseFault) {
  let calls = 0;
  const server = http.createServer(async (request, response) => {
    const body = text(request); // The body is read now, because the client aborts the request after a timeout.
    body.catch(() => {});
    const execute = async () => passOn(target, request, await body);
    try {
      calls += 1;
      const fault = await chooseFault(calls, () => body);
      if (!fault) return send(response, await execute());
      await faults[fault]({ request, response, server, execute });
    } catch {
      request.socket.destroy(); // The client or the database closed the connection.
    }
  });
  server.keepAliveTimeout = 60_000;
  const { origin, close } = await listenOnLoopback(server);
  return {
    /** URL of the proxy, for the environment variable `AWS_ENDPOINT_URL_DYNAMODB`. */
    endpoint: origin,
    close,
  };
}

/** Forwards a request to `url` and returns the response. */
export async function passOn(
  url: string | URL,
  { method = 'GET', headers }: Pick<http.IncomingMessage, 'method' | 'headers'>,
  body: Buffer | string,
) {
  const outgoing = http.request(url, { method, headers });
  outgoing.end(body);
  const [reply] = (await once(outgoing, 'response')) as [http.IncomingMessage];
  return { status: reply.statusCode ?? 0, headers: reply.headers, body: await buffer(reply) };
}

function send(response: http.ServerResponse, { status, headers, body }: ApiResponse): void {
  const { 'transfer-encoding': _chunked, ...others } = headers;
  response.writeHead(status, { ...others, 'content-length': body.length }).end(body);
}

function exception(status: number, name: string): ApiResponse {
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'A fault.' });
  return { status, headers: { 'content-type': 'application/x-amz-json-1.0' }, body: Buffer.from(body) };
}
