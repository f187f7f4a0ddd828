import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** What becomes of a create: the service gets it, and the client its answer or none (`lose`); or an answer is given in its place. */
export type Fate = 'pass' | 'lose' | { status: number; headers?: Record<string, string>; body?: string };

export interface SeedProxy {
  baseAddress: string;
  /** When each create arrived, in milliseconds since 1970. */
  creates: number[];
  /** Decides on each create that arrives from now on, from the first, 0. */
  decide: (fate: (index: number) => Fate | Promise<Fate>) => void;
  close: () => Promise<void>;
}

/** Stands between `npm run seed` and the service with this base address, and makes faults. */
export async function startSeedProxy(service: string): Promise<SeedProxy> {
  const creates: number[] = [];
  let fateOf: ((index: number) => Fate | Promise<Fate>) | undefined;

  async function answer(
    { method, url, headers, socket }: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
  ) {
    const isCreate = method === 'POST';
    const fate = isCreate ? await fateOf!(creates.push(Date.now()) - 1) : 'pass';
    if (typeof fate === 'object') return response.writeHead(fate.status, fate.headers).end(fate.body);
    const { authorization = '', 'idempotency-key': key = '' } = headers;
    const given = await fetch(new URL(url!, service), {
      method: method!,
      headers: {
        Authorization: authorization,
        'Content-Type': 'application/json',
        'Idempotency-Key': String(key),
      },
      body: isCreate ? body : null,
    });
    const text = await given.text();
    return fate === 'lose' ? socket.destroy() : response.writeHead(given.status).end(text);
  }

  const server = createServer((request, response) => {
    void buffer(request).then((body) => answer(request, body, response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    baseAddress: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    creates,
    decide(fate) {
      creates.length = 0;
      fateOf = fate;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
