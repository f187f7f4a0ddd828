import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { passOn } from '../support/fault-proxy.ts';
import { listenOnLoopback } from '../support/loopback.ts';

/**
 * The proxy's behavior for one request. `pass` forwards the request to the service and returns the response. `lose` also
 * forwards the request, but closes the connection without a response. With `hang`, the proxy never responds. If the
 * behavior is an object, the proxy sends this object as the response. With `isEndless`, it sends a space per 100 ms after
 * the body, and never ends.
 */
export type Behavior =
  | 'pass'
  | 'lose'
  | 'hang'
  | { status: number; headers?: OutgoingHttpHeaders; body?: string; isEndless?: boolean };

interface RecordedRequest {
  method: string;
  target: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Time of arrival, in milliseconds since 1970. */
  time: number;
}

type ChooseBehavior = (request: RecordedRequest) => Behavior | Promise<Behavior>;

/** Returns a function that chooses the given behaviors for successive requests, and `pass` for all later requests. */
export function inOrder(...behaviors: Behavior[]): () => Behavior {
  return () => behaviors.shift() ?? 'pass';
}

/** Starts a proxy that listens on the loopback interface and forwards requests to the URL `service`. */
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
    if (typeof behavior === 'object') {
      response.writeHead(behavior.status, { 'Content-Type': 'application/json', ...behavior.headers });
      if (!behavior.isEndless) return void response.end(behavior.body);
      response.write(behavior.body);
      const interval = setInterval(() => response.write(' '), 100);
      return void response.on('close', () => clearInterval(interval));
    }
    // The proxy also forwards the Host header, so that links in the response point to the proxy.
    const reply = await passOn(new URL(target, service), request, body);
    if (behavior === 'lose') return void request.socket.destroy();
    response.writeHead(reply.status, reply.headers).end(reply.body);
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => request.socket.destroy()); // The client or the service disconnected.
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
