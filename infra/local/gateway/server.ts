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
import { headerValues, type HttpRequest, type HttpResponse } from './http-message.ts';
import { RunnerError } from '../runner-error.ts';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html: payload and header sizes. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_HEADER_BYTES = 10_240;
/** How long requests that are being answered hold up the end. */
const LAST_ANSWERS_MILLISECONDS = 10_000;
/** How long a client that was refused on the bare connection may go on sending. */
const LINGER_MILLISECONDS = 2_000;

export interface HttpServer {
  port: number;
  close: () => Promise<void>;
}

/**
 * Serves the API on the loopback interface and prints a line per request.
 *
 * @param answerFirst answers what is not for the API, and gives undefined for the rest.
 * @throws RunnerError when the port cannot be had.
 */
export async function serve(
  api: ApiGateway,
  port: number,
  answerFirst?: (request: HttpRequest) => Promise<HttpResponse> | undefined,
): Promise<HttpServer> {
  const inFlight = new Set<ServerResponse>();

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const start = performance.now();
    const request = readHead(incoming);
    inFlight.add(outgoing);
    outgoing.once('close', () => inFlight.delete(outgoing));
    try {
      const body = await readBody(incoming);
      if (!body) send(outgoing, api.refuse('REQUEST_TOO_LARGE'));
      else if (!hasValidHost(request)) send(outgoing, api.refuse('DEFAULT_4XX'));
      else send(outgoing, await (answerFirst?.(request) ?? api.handle({ ...request, body })));
    } catch (error) {
      if (incoming.destroyed && !incoming.complete) return; // the client went away
      console.error(error);
      send(outgoing, api.refuse('DEFAULT_5XX'));
    }
    printLine(request, outgoing.statusCode, performance.now() - start);
  }

  // By itself Node would refuse a request without Host, or with an unknown Expect, with an empty body.
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requireHostHeader: false });
  // By itself Node would close the connection of a client that has said all, however long the answer takes.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('request', (incoming, outgoing) => void answer(incoming, outgoing));
  server.on('checkExpectation', (incoming, outgoing) => void answer(incoming, outgoing));
  answerMalformedRequests(server, api, inFlight);

  await listen(server, port);
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      await Promise.race([
        untilAnswered(inFlight),
        setTimeout(LAST_ANSWERS_MILLISECONDS, undefined, { ref: false }),
      ]);
      // What is left are connections without a request, which only their time-outs would end.
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * Tries a port before work is done for it.
 *
 * @throws RunnerError when it cannot be had.
 */
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
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new RunnerError(`Port ${port} is taken: end what uses it, or choose another port with --port.`);
    }
    throw new RunnerError(
      code === 'EACCES'
        ? `Port ${port} is kept for the system: choose one above 1023 with --port.`
        : `Port ${port} cannot be used (${message}): choose another port with --port.`,
    );
  }
}

/** Until nothing is being answered, of what was on its way when the end began too. */
async function untilAnswered(inFlight: Set<ServerResponse>): Promise<void> {
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
  outgoing.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  outgoing.end(body);
}

function readHead({ method = '', url = '', rawHeaders, socket }: IncomingMessage): HttpRequest {
  // An absolute address is as good as a path (RFC 9112 section 3.2.2).
  const target = url.replace(/^https?:\/\/[^/?]*/i, '');
  const queryStart = target.indexOf('?');
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as [string, string]] : [],
  );
  // HTTP/1.0 knows no Host.
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

/** The body, or undefined for one that is too large: it is read to its end, so that the connection stays usable. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += (chunk as Buffer).length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk as Buffer);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

/**
 * What is not HTTP, or has too many headers, never becomes a request; it is answered on the bare connection, after
 * the requests that came whole before it.
 */
function answerMalformedRequests(server: Server, api: ApiGateway, inFlight: Set<ServerResponse>): void {
  const refused = new WeakSet<Duplex>();
  server.on('clientError', async (_error, socket) => {
    if (refused.has(socket)) return; // what follows in further packets is no HTTP either
    refused.add(socket);
    const earlier = [...inFlight].filter(({ req }) => req.socket === socket && req.complete);
    await Promise.all(earlier.map((outgoing) => once(outgoing, 'close')));
    sendOnConnection(socket, api.refuse('DEFAULT_4XX'));
  });
  server.on('connect', (_incoming, socket) => sendOnConnection(socket, api.refuse('DEFAULT_4XX')));
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
  // Closed while something is unread, it would be reset, and the answer lost on its way (RFC 9112 section 9.6).
  void setTimeout(LINGER_MILLISECONDS, undefined, { ref: false }).then(() => socket.destroy());
}

function printLine({ method, path }: HttpRequest, status: number, milliseconds: number): void {
  console.log(`${new Date().toISOString()} ${method} ${path} ${status} ${milliseconds.toFixed(1)} ms`);
}
