import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listenOnLoopback } from './loopback.ts';

/**
 * What the proxy does with a request. It forwards the request, and sends the client the whole response (`pass`), half of
 * it (`cut`), or nothing before it closes the connection (`lose`). Or it sends no response (`hang`), or the given one.
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

/** Returns a function that returns these fates one after another, and `pass` after the last. */
export function inOrder(...fates: Fate[]): () => Fate {
  return () => fates.shift() ?? 'pass';
}

/** Starts a proxy on the loopback interface between a client and the service with this base URL. */
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
    // The service builds links from the Host header of the request.
    const link = serviceResponse.headers.get('Link')?.replace(new URL(service).host, host!);
    const { connection: _kept, ...headersGiven } = Object.fromEntries(serviceResponse.headers);
    response.writeHead(serviceResponse.status, { ...headersGiven, ...(link !== undefined && { link }) });
    if (fate === 'pass') return void response.end(content);
    response.write(content.subarray(0, content.length / 2), () => request.socket.destroy());
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => request.socket.destroy()); // one side closed the connection
  });
  const { origin, close } = await listenOnLoopback(server);
  return {
    baseUrl: `${origin}/v1`,
    /** The requests that arrived since the last call of `decide`, in order. */
    requests,
    /** Sets the fates of all further requests. */
    decide(next: FateOf): void {
      requests.length = 0;
      fateOf = next;
    },
    close,
  };
}
