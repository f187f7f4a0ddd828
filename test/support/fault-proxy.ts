import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

// Stands between the SDK and the database, and makes of chosen calls what a network or a database may make of them.

/** Beyond what an attempt may take, see shared/storage/database.ts. */
const TOO_LONG_MILLISECONDS = 2_000;
/** Long enough to meet some of the next attempts, which come within 25 and 50 ms. */
const OUTAGE_MILLISECONDS = 20;

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  /** Lets the database execute the call and gives its answer. */
  execute: () => Promise<Answer>;
  /** Stops listening for a moment, and closes the connections that wait for a request. */
  goAway: () => Promise<void>;
}

/** What becomes of a call, by the name of the fault. */
const faults = {
  async 'connections are refused'({ request, goAway }: Call) {
    request.socket.resetAndDestroy();
    await goAway();
  },
  async 'reset before the request is read'({ request }: Call) {
    request.socket.resetAndDestroy();
  },
  async 'executed, answer dropped'({ request, execute }: Call) {
    await execute();
    request.socket.destroy();
  },
  async 'executed late, after the time-out'({ request, execute }: Call) {
    await setTimeout(TOO_LONG_MILLISECONDS);
    await execute();
    request.socket.destroy();
  },
  async 'executed, answer delayed beyond the time-out'({ response, execute }: Call) {
    const answer = await execute();
    await setTimeout(TOO_LONG_MILLISECONDS);
    send(response, answer);
  },
  async 'executed, answer trickles beyond the time-out'({ response, execute }: Call) {
    const { status, headers, body } = await execute();
    response.writeHead(status, headers);
    for (const byte of body) {
      await setTimeout(TOO_LONG_MILLISECONDS / body.length);
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
    const answer = await execute();
    send(response, { ...answer, body: answer.body.subarray(0, answer.body.length / 2) });
  },
};

export type Fault = keyof typeof faults;
export const faultNames = Object.keys(faults) as Fault[];

/** Chooses the fault of a call by its number, counted from 1, or by what it reads of it; none leaves the call alone. */
export type ChooseFault = (
  call: number,
  read: () => Promise<string>,
) => Fault | undefined | Promise<Fault | undefined>;

/** A mix of all faults, the same for each seed: as many calls out of a hundred as `percent` says. */
export function mixOfFaults(seed: number, percent: number): ChooseFault {
  return (call) => {
    if (seededInteger(100, seed, 'whether', call) >= percent) return undefined;
    return faultNames[seededInteger(faultNames.length, seed, 'which', call)];
  };
}

/** An integer from 0 to below the limit that follows from the seed and from what it is for. */
export function seededInteger(limit: number, ...seed: (number | string)[]): number {
  return hash('sha256', seed.join(' '), 'buffer').readUInt32LE() % limit;
}

export interface FaultProxy {
  /** For `AWS_ENDPOINT_URL_DYNAMODB`. */
  endpoint: string;
  /** How many calls there were so far, and how many of them met which fault. */
  tally: () => { calls: number; injected: Record<Fault, number> };
  close: () => Promise<void>;
}

/**
 * Starts the proxy on the loopback interface.
 *
 * @param target address of the database.
 */
export async function startFaultProxy(target: string, chooseFault: ChooseFault): Promise<FaultProxy> {
  let calls = 0;
  const injected = Object.fromEntries(faultNames.map((name) => [name, 0])) as Record<Fault, number>;
  const server = createServer(async (request, response) => {
    try {
      calls += 1;
      let body: Promise<string> | undefined;
      const read = () => (body ??= text(request));
      const fault = await chooseFault(calls, read);
      const call: Call = {
        request,
        response,
        execute: async () => passOn(target, request, await read()),
        goAway,
      };
      if (fault) {
        injected[fault] += 1;
        await faults[fault](call);
      } else send(response, await call.execute());
    } catch {
      request.socket.destroy(); // either side went away
    }
  });
  server.keepAliveTimeout = 60_000;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  let isClosed = false;

  async function goAway(): Promise<void> {
    if (!server.listening) return;
    server.close();
    await setTimeout(OUTAGE_MILLISECONDS);
    if (!isClosed) await once(server.listen(port, '127.0.0.1'), 'listening');
  }

  return {
    endpoint: `http://127.0.0.1:${port}`,
    tally: () => ({ calls, injected }),
    async close() {
      isClosed = true;
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function passOn(target: string, { method, headers }: IncomingMessage, body: string): Promise<Answer> {
  const outgoing = forward(target, { method, headers });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: await buffer(answer) };
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  const { 'transfer-encoding': _chunked, ...others } = headers;
  response.writeHead(status, { ...others, 'content-length': body.length }).end(body);
}

function exception(status: number, name: string): Answer {
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'A fault.' });
  return { status, headers: { 'content-type': 'application/x-amz-json-1.0' }, body: Buffer.from(body) };
}
