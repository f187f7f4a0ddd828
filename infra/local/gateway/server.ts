import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  STATUS_CODES,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { ApiGateway } from './api-gateway.ts';
import { headerValues, type HttpRequest, type HttpResponse, NO_CONTENT } from './http-message.ts';
import { plain, UsageError } from '../../operate/command.ts';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html: payload and header sizes. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_HEADER_BYTES = 10_240;
const SHUTDOWN_MILLISECONDS = 10_000;
const LINGER_MILLISECONDS = 2_000;

export interface HttpServer {
  port: number;
  close: () => Promise<void>;
}

/**
 * Serves the API on the loopback interface and prints a line per request.
 *
 * @param respondFirst responds to requests that are not for the API, and returns undefined for all others
 */
export async function serve(
  api: ApiGateway,
  port: number,
  respondFirst?: (request: HttpRequest) => Promise<HttpResponse> | undefined,
): Promise<HttpServer> {
  const inFlight = new Set<ServerResponse>();

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const start = performance.now();
    const request = readHead(incoming);
    inFlight.add(outgoing);
    outgoing.once('close', () => inFlight.delete(outgoing));
    try {
      const body = await readBody(incoming);
      if (!body) send(outgoing, api.gatewayResponse('REQUEST_TOO_LARGE'));
      else if (!hasValidHost(request)) send(outgoing, api.gatewayResponse('DEFAULT_4XX'));
      else send(outgoing, await (respondFirst?.(request) ?? api.handle({ ...request, body })));
    } catch (error) {
      if (incoming.destroyed && !incoming.complete) return; // the client disconnected
      console.error(error);
      send(outgoing, api.gatewayResponse('DEFAULT_5XX'));
    }
    printLine(request, outgoing.statusCode, performance.now() - start);
  }

  // By default, Node rejects a request without Host or with an unknown Expect, with an empty body.
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false });
  // By default, Node closes the connection of a client that closed its side, before the response is sent.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('request', (incoming, outgoing) => void respond(incoming, outgoing));
  server.on('checkExpectation', (incoming, outgoing) => void respond(incoming, outgoing));
  rejectMalformedRequests(server, api, inFlight);

  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      await Promise.race([untilSent(inFlight), setTimeout(SHUTDOWN_MILLISECONDS, undefined, { ref: false })]);
      // Idle connections would stay open until their timeouts.
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Tries a port before the work of a start is done. @throws UsageError if it cannot be used. */
export async function requireFreePort(port: number): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await listen(probe, port);
  probe.close();
  await once(probe, 'close');
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const { message } = error as Error; // such as "listen EADDRINUSE: address already in use 127.0.0.1:3000"
    throw new UsageError(`Port ${port} cannot be used (${message}): choose another port with --port.`);
  }
}

/** Resolves when no response is in progress, including those to requests that arrived during the shutdown. */
async function untilSent(inFlight: Set<ServerResponse>): Promise<void> {
  while (inFlight.size > 0) {
    await Promise.all([...inFlight].map((outgoing) => once(outgoing, 'close')));
  }
}

/** One Host that is a name or address with an optional port (RFC 9112 section 3.2): links are made from it. */
function hasValidHost(request: HttpRequest): boolean {
  const [host, ...more] = headerValues(request, 'Host');
  return more.length === 0 && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(host ?? '');
}

function send(outgoing: ServerResponse, { status, headers, body }: HttpResponse): void {
  // RFC 9110 section 8.6 forbids Content-Length in a response without content.
  const length = status === NO_CONTENT ? {} : { 'Content-Length': Buffer.byteLength(body) };
  outgoing.writeHead(status, { ...headers, ...length });
  outgoing.end(body);
}

function readHead({ method = '', url = '', rawHeaders, socket }: IncomingMessage): HttpRequest {
  // The target may be an absolute URL (RFC 9112 section 3.2.2).
  const target = url.replace(/^https?:\/\/[^/?]*/i, '');
  const queryStart = target.indexOf('?');
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as [string, string]] : [],
  );
  // An HTTP/1.0 request has no Host.
  if (headerValues({ headers }, 'Host').length === 0) headers.push(['Host', `localhost:${socket.localPort}`]);
  return {
    method,
    path: queryStart < 0 ? target : target.slice(0, queryStart),
    query: queryStart < 0 ? '' : target.slice(queryStart + 1),
    headers,
    body: Buffer.alloc(0),
    sourceIp: socket.remoteAddress ?? '127.0.0.1',
  };
}

/** The body, or undefined if it is too large. It is read to its end, so that the connection stays usable. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk as Buffer);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

/** Rejects what is not HTTP, or has too many headers, on its connection, after the responses to earlier requests. */
function rejectMalformedRequests(server: Server, api: ApiGateway, inFlight: Set<ServerResponse>): void {
  const rejected = new WeakSet<Duplex>();
  server.on('clientError', async (_error, socket) => {
    if (rejected.has(socket)) return; // each further packet is an error too
    rejected.add(socket);
    const earlier = [...inFlight].filter(({ req }) => req.socket === socket && req.complete);
    await Promise.all(earlier.map((outgoing) => once(outgoing, 'close')));
    sendOnConnection(socket, api.gatewayResponse('DEFAULT_4XX'));
  });
  server.on('connect', (_incoming, socket) => sendOnConnection(socket, api.gatewayResponse('DEFAULT_4XX')));
}

function sendOnConnection(socket: Duplex, { status, headers, body }: HttpResponse): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const fields = Object.entries({
    ...headers,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`);
  // Closing it with unread data would reset the connection and lose the response (RFC 9112 section 9.6).
  void setTimeout(LINGER_MILLISECONDS, undefined, { ref: false }).then(() => socket.destroy());
}

function printLine({ method, path }: HttpRequest, status: number, milliseconds: number): void {
  console.log(`${new Date().toISOString()} ${method} ${plain(path)} ${status} ${milliseconds.toFixed(1)} ms`);
}
