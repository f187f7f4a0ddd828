import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, createServer as createListener, type Server as Listener } from 'node:net';
import type { ApiGateway } from './api-gateway.ts';
import { EmulatorError } from '../errors.ts';
import { headerValues, type HttpRequest, type HttpResponse, NO_CONTENT } from './http-message.ts';

/** Maximum payload in bytes: https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/**
 * Limit for the URL and headers together. API Gateway limits each of the two to 10,240 bytes. Node rejects larger requests.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
const MAX_HEAD_BYTES = 2 * 10_240;
const SHUTDOWN_MILLISECONDS = 10_000;

export type HttpServer = Awaited<ReturnType<typeof serve>>;

/** A response that was sent. */
export interface Exchange {
  method: string;
  path: string;
  status: number;
  milliseconds: number;
}

export interface ServerSettings extends Pick<
  ServerOptions,
  'requestTimeout' | 'connectionsCheckingInterval'
> {
  /** Handler that runs before the API and returns undefined for API requests. */
  respondFirst?: (request: HttpRequest) => Promise<HttpResponse> | undefined;
  onResponse?: (exchange: Exchange) => void;
}

/** Serves the API on the loopback interface. Node itself responds to malformed, oversized or slow requests. */
export async function serve(
  api: ApiGateway,
  port: number,
  { respondFirst, onResponse, ...timeouts }: ServerSettings = {},
) {
  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const start = performance.now();
    const request = readHead(incoming);
    const send = ({ status, headers, body }: HttpResponse): void => {
      // During the shutdown, clients must not send more requests on open connections.
      if (!server.listening) outgoing.shouldKeepAlive = false;
      // RFC 9110 section 8.6 forbids Content-Length in a 204.
      const length = status === NO_CONTENT ? {} : { 'Content-Length': Buffer.byteLength(body) };
      outgoing.writeHead(status, { ...headers, ...length }).end(body);
    };
    try {
      const body = await readBody(incoming);
      if (!body) send(api.gatewayResponse('REQUEST_TOO_LARGE'));
      else send(await (respondFirst?.(request) ?? api.handle({ ...request, body })));
    } catch (error) {
      if (incoming.destroyed && !incoming.complete) return; // The client disconnected.
      console.error(error);
      send(api.gatewayResponse('DEFAULT_5XX'));
    }
    const { method, path } = request;
    onResponse?.({ method, path, status: outgoing.statusCode, milliseconds: performance.now() - start });
  }

  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES, ...timeouts });
  // By default, Node sends no response on a half-closed connection and ignores all headers after the first 1,000.
  Object.assign(server, { httpAllowHalfOpen: true, maxHeadersCount: 0 });
  server.on('request', (incoming, outgoing) => void respond(incoming, outgoing));
  // API Gateway ignores the header Expect.
  server.on('checkExpectation', (incoming, outgoing) => void respond(incoming, outgoing));

  const listeners = await listen(server, port);
  return {
    port: portOf(server),
    /** Waits for the requests in progress, but not for clients that are too slow. */
    async close(): Promise<void> {
      const timer = setTimeout(() => server.closeAllConnections(), SHUTDOWN_MILLISECONDS);
      await closeAll(listeners);
      clearTimeout(timer);
    },
  };
}

/** @throws EmulatorError if the port cannot be used. */
export async function requireFreePort(port: number): Promise<void> {
  if (port !== 0) await closeAll(await listen(createServer(), port));
}

async function closeAll(listeners: Listener[]): Promise<void> {
  await Promise.all(listeners.map((listener) => once(listener.close(), 'close')));
}

/**
 * Listens on 127.0.0.1 and, if the machine has IPv6, on ::1, so that no other program receives requests to localhost.
 * Port 0 selects a port that is free on both addresses.
 *
 * @throws EmulatorError if the port cannot be used.
 */
async function listen(server: Server, port: number): Promise<Listener[]> {
  const ipv6 = createListener({ allowHalfOpen: true, noDelay: true }, (socket) =>
    server.emit('connection', socket),
  );
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    await once(ipv6.listen(portOf(server), '::1'), 'listening');
    return [server, ipv6];
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (server.listening && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code)) return [server];
    if (server.listening) await closeAll([server]);
    if (port === 0 && code === 'EADDRINUSE') return listen(server, port);
    throw new EmulatorError('port', `Port ${port} cannot be used (${message}).`);
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function readHead({ method = '', url = '', rawHeaders, socket }: IncomingMessage): HttpRequest {
  // RFC 9112 section 3.2.2 allows absolute URLs as request targets.
  const [, path = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(url.replace(/^https?:\/\/[^/?]*/i, '')) ?? [];
  const headers = rawHeaders.flatMap((name, index): HttpRequest['headers'] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : [],
  );
  // HTTP/1.0 requests can omit Host, but the functions need the host name for links in responses.
  if (headerValues({ headers }, 'Host').length === 0) headers.push(['Host', `localhost:${socket.localPort}`]);
  const sourceIp = socket.remoteAddress ?? '127.0.0.1';
  return { method, path, query, headers, body: Buffer.alloc(0), sourceIp };
}

/** Returns the body, or undefined if the body is too large. Reads the whole body to keep the connection usable. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk as Buffer);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}
