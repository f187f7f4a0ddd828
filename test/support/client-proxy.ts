import { afterAll } from '@jest/globals';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { passOn } from './fault-proxy.ts';
import { startLocalService } from './local-service.ts';
import { listenOnLoopback } from './loopback.ts';

/**
 * The proxy's behavior for one request. `pass`, `cut` and `lose` forward the request to the service. `pass` returns the
 * response, `cut` closes the connection after half of the response, and `lose` closes it without a response. With
 * `reset`, the proxy resets the connection, and with `hang`, it never responds. If the behavior is an object, the proxy
 * sends this object as the response. With `raw`, it sends these bytes, and closes the connection. With `isEndless`, it
 * sends a space per 100 ms after the body or the raw bytes, and never ends.
 */
export type Behavior =
  | 'pass'
  | 'cut'
  | 'lose'
  | 'reset'
  | 'hang'
  | { status: number; headers?: OutgoingHttpHeaders; body?: string | Buffer; isEndless?: boolean }
  | { raw: string; isEndless?: boolean };

interface RecordedRequest {
  method: string;
  target: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Time of arrival, in milliseconds since 1970. */
  time: number;
}

type ChooseBehavior = (request: RecordedRequest) => Behavior | Promise<Behavior>;

export type ClientProxy = Awaited<ReturnType<typeof startClientProxy>>;

/** Returns a function that chooses the given behaviors for successive requests, and `pass` for all later requests. */
export function inOrder(...behaviors: Behavior[]): () => Behavior {
  return () => behaviors.shift() ?? 'pass';
}

/**
 * Starts a proxy that listens on the loopback interface and forwards requests to the URL `service`. Clients can also use
 * it as their HTTP proxy (RFC 9110, 9.3.6).
 */
export async function startClientProxy(service: string) {
  const requests: RecordedRequest[] = [];
  let chooseBehavior: ChooseBehavior = inOrder();

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: target = '', headers } = request;
    const body = await buffer(request);
    const recorded = { method, target, headers, body: body.toString(), time: Date.now() };
    requests.push(recorded);
    const behavior = await chooseBehavior(recorded);
    if (behavior === 'hang') return;
    if (behavior === 'reset') return void request.socket.resetAndDestroy();
    if (typeof behavior === 'object' && 'raw' in behavior) {
      const { socket } = request;
      if (!behavior.isEndless) return void socket.end(behavior.raw);
      return sendEndlessly(socket, behavior.raw);
    }
    if (typeof behavior === 'object') {
      response.writeHead(behavior.status, { 'Content-Type': 'application/json', ...behavior.headers });
      if (!behavior.isEndless) return void response.end(behavior.body);
      return sendEndlessly(response, behavior.body ?? '');
    }
    // The proxy also forwards the Host header, so that links in the response point to the proxy.
    const reply = await passOn(new URL(target, service), request, body);
    if (behavior === 'lose') return void request.socket.destroy();
    response.writeHead(reply.status, reply.headers);
    if (behavior === 'pass') return void response.end(reply.body);
    response.write(reply.body.subarray(0, reply.body.length / 2), () => request.socket.destroy());
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => request.socket.destroy()); // The client or the service disconnected.
  });
  // Node's fetch opens a tunnel to its HTTP proxy even for http. This proxy itself responds to the requests in the tunnel.
  server.on('connect', (_request, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    server.emit('connection', socket);
  });
  const { origin, close } = await listenOnLoopback(server);
  return {
    origin,
    baseUrl: `${origin}/v1`,
    /** Requests that have arrived since the last call to `decide`, in order of arrival. */
    requests,
    /** Sets the function that chooses the behavior for each later request, and clears `requests`. */
    decide(next: ChooseBehavior): void {
      requests.length = 0;
      chooseBehavior = next;
    },
    close,
  };
}

/** Sends `start`, and then a space per 100 ms until the client disconnects. */
function sendEndlessly(stream: Writable, start: string | Buffer): void {
  stream.write(start);
  const interval = setInterval(() => stream.write(' '), 100);
  stream.on('close', () => clearInterval(interval));
}

/** Returns a function that starts proxies as `startClientProxy` does. They are closed after the tests in the file. */
export function clientProxies(): typeof startClientProxy {
  const proxies: ClientProxy[] = [];
  afterAll(async () => {
    for (const proxy of proxies) await proxy.close();
  });
  return async (service) => {
    const proxy = await startClientProxy(service);
    proxies.push(proxy);
    return proxy;
  };
}

/** Starts a local service and a proxy in front of the service for the tests in the file. */
export async function useServiceBehindProxy() {
  const service = await startLocalService();
  const proxy = await startClientProxy(service.baseUrl);
  afterAll(async () => {
    await proxy.close();
    await service.stop();
  });
  return { service, proxy };
}
