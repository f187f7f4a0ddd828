import { hash } from 'node:crypto';
import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { listenOnLoopback } from './loopback.ts';

/** Longer than an attempt may take, see shared/storage/database.ts. */
const TOO_LONG_MILLISECONDS = 2_000;
/** Long enough to affect some of the next attempts, which follow within 25 and 50 ms. */
const OUTAGE_MILLISECONDS = 20;

type ApiResponse = Awaited<ReturnType<typeof passOn>>;

interface Call {
  request: http.IncomingMessage;
  response: http.ServerResponse;
  server: http.Server;
  /** Has the database execute the call, and returns its answer. */
  execute: () => Promise<ApiResponse>;
}

/** What a network or a database may do to a call. */
const faults = {
  async 'connections are refused'({ request, server }: Call) {
    const { port } = server.address() as AddressInfo;
    request.socket.resetAndDestroy();
    server.close();
    await setTimeout(OUTAGE_MILLISECONDS);
    server.listen(port, '127.0.0.1').unref();
  },
  async 'reset before the request is read'({ request }: Call) {
    request.socket.resetAndDestroy();
  },
  async 'executed, answer dropped'({ request, execute }: Call) {
    await execute();
    request.socket.destroy();
  },
  async 'executed late, after the time-out'({ request, execute }: Call) {
    await setTimeout(TOO_LONG_MILLISECONDS, undefined, { ref: false });
    await execute();
    request.socket.destroy();
  },
  async 'executed, answer delayed beyond the time-out'({ response, execute }: Call) {
    const reply = await execute();
    await setTimeout(TOO_LONG_MILLISECONDS, undefined, { ref: false });
    send(response, reply);
  },
  async 'executed, answer trickles beyond the time-out'({ response, execute }: Call) {
    const { status, headers, body } = await execute();
    response.writeHead(status, headers);
    for (const byte of body) {
      await setTimeout(TOO_LONG_MILLISECONDS / body.length, undefined, { ref: false });
      if (response.destroyed) return;
      response.write(Buffer.of(byte));
    }
    response.end();
  },
  async 'executed, answer 500'({ response, execute }: Call) {
    await execute();
    send(response, exception(500, 'InternalServerError'));
  },
  async throttled({ response }: Call) {
    send(response, exception(400, 'ProvisionedThroughputExceededException'));
  },
  async 'executed, answer is broken JSON'({ response, execute }: Call) {
    const reply = await execute();
    send(response, { ...reply, body: reply.body.subarray(0, reply.body.length / 2) });
  },
};

export type Fault = keyof typeof faults;
export const faultNames = Object.keys(faults) as Fault[];

/** Chooses the fault of a call by the call's number, counted from 1, or by its body. */
export type ChooseFault = (
  call: number,
  read: () => Promise<string>,
) => Fault | undefined | Promise<Fault | undefined>;

/** All faults at random, for this percentage of calls. The same seed chooses the same faults. */
export function mixOfFaults(seed: number, percent: number): ChooseFault {
  return (call) => {
    if (seededInteger(100, seed, 'whether', call) >= percent) return undefined;
    return faultNames[seededInteger(faultNames.length, seed, 'which', call)];
  };
}

/** An integer from 0 to below the limit that follows from the seed. */
export function seededInteger(limit: number, ...seed: (number | string)[]): number {
  return hash('sha256', seed.join(' '), 'buffer').readUInt32LE() % limit;
}

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

/** Starts a proxy between the SDK and the database at the address `target`. */
export async function startFaultProxy(target: string, chooseFault: ChooseFault) {
  let calls = 0;
  const injected = Object.fromEntries(faultNames.map((name) => [name, 0])) as Record<Fault, number>;
  const server = http.createServer(async (request, response) => {
    const body = text(request); // at once: after a time-out, the client ends its request
    body.catch(() => {});
    const execute = async () => passOn(target, request, await body);
    try {
      calls += 1;
      const fault = await chooseFault(calls, () => body);
      if (!fault) return send(response, await execute());
      injected[fault] += 1;
      await faults[fault]({ request, response, server, execute });
    } catch {
      request.socket.destroy(); // the client or the database disconnected
    }
  });
  server.keepAliveTimeout = 60_000;
  const { origin, close } = await listenOnLoopback(server);
  return {
    /** For `AWS_ENDPOINT_URL_DYNAMODB`. */
    endpoint: origin,
    /** The number of calls, and how many of them had which fault. */
    tally: () => ({ calls, injected }),
    close,
  };
}

async function passOn(target: string, { method, headers }: http.IncomingMessage, body: string) {
  const outgoing = http.request(target, { method, headers });
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
