import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenOnLoopback } from './loopback.ts';

/**
 * What becomes of a request. The service gets it, and the client gets all of the answer (`pass`), half of it (`cut`) or
 * nothing before the connection ends (`lose`). Or the client gets no answer (`hang`), or one that is not the service's.
 */
export type Fate = 'pass' | 'cut' | 'lose' | 'hang' | ServiceResponse;

interface ServiceResponse {
  status: number;
  headers?: Record<string, string>;
  body?: string | undefined;
}

interface RecordedRequest {
  method: string;
  target: string;
  headers: IncomingMessage['headers'];
  /** Milliseconds since 1970. */
  time: number;
}

type FateOf = (request: RecordedRequest) => Fate | Promise<Fate>;

export type ClientProxy = Awaited<ReturnType<typeof startClientProxy>>;

/** Fates of the next requests; those after them pass. */
export function inOrder(...fates: Fate[]): () => Fate {
  return () => fates.shift() ?? 'pass';
}

/** Stands between a client and the service with this base URL, on the loopback interface. */
export async function startClientProxy(service: string) {
  const requests: RecordedRequest[] = [];
  let fateOf: FateOf = inOrder();

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: target = '', headers } = request;
    const body = await buffer(request);
    const recorded = { method, target, headers, time: Date.now() };
    requests.push(recorded);
    const fate = await fateOf(recorded);
    if (fate === 'hang') return;
    if (typeof fate === 'object') {
      response.writeHead(fate.status, { 'Content-Type': 'application/json', ...fate.headers }).end(fate.body);
      return;
    }
    const { connection: _connection, 'content-length': _length, host, ...others } = headers;
    const serviceResponse = await fetch(new URL(target, service), {
      method,
      headers: others as Record<string, string>,
      ...(method === 'POST' && { body }),
    });
    const content = Buffer.from(await serviceResponse.arrayBuffer());
    if (fate === 'lose') return void request.socket.destroy();
    // Links are made from the Host that the service was asked by.
    const link = serviceResponse.headers.get('Link')?.replace(new URL(service).host, host!);
    const { connection: _kept, ...headersGiven } = Object.fromEntries(serviceResponse.headers);
    response.writeHead(serviceResponse.status, { ...headersGiven, ...(link !== undefined && { link }) });
    if (fate === 'pass') return void response.end(content);
    response.write(content.subarray(0, content.length / 2), () => request.socket.destroy());
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => request.socket.destroy()); // either side went away
  });
  const { origin, close } = await listenOnLoopback(server);
  return {
    baseUrl: `${origin}/v1`,
    /** Each request that arrived since it was last decided on them, in order. */
    requests,
    /** Decides on the requests that arrive from now on. */
    decide(next: FateOf): void {
      requests.length = 0;
      fateOf = next;
    },
    close,
  };
}
