import { once } from 'node:events';
import * as http from 'node:http';
import type { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { ApiGateway } from './api-gateway.ts';
import { EmulatorError } from '../emulator-error.ts';
import { listenOn, LOOPBACK_ADDRESSES, missingLoopback } from '../loopback.ts';
import { type HttpRequest, type HttpResponse, localHost, type Pair } from './http-message.ts';

/**
 * Maximum size of the URL and the headers together. API Gateway limits each to 10,240 bytes.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
const MAX_HEAD_BYTES = 2 * 10_240;
/**
 * Number of requests without a response on a connection. At this number, the server stops reading from the connection.
 */
const MAX_PIPELINED_REQUESTS = 100;
/** Maximum time for which a shutdown waits for the requests in progress. */
const SHUTDOWN_MILLISECONDS = 10_000;
/** Time for which a client can read the response to a malformed request before the connection is reset. */
const LINGER_MILLISECONDS = 1_000;

/** Statuses of requests that Node rejects, by the error's code. After other errors, the status is 400. */
const STATUS_BY_ERROR: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

export interface ServerSettings {
  /** Handler that runs before the API and returns undefined for API requests. */
  respondFirst?: (request: HttpRequest) => Promise<HttpResponse | undefined>;
  onResponse?: (request: HttpRequest, status: number, milliseconds: number) => void;
  /** Receives Node's reason for rejecting bytes that are not valid HTTP, and the status of the response. */
  onMalformed?: (problem: string, status: number) => void;
}

/** Connection of a client. */
interface Connection {
  /** Responses that have not been sent yet, in the order of their requests. */
  responses: Set<http.ServerResponse>;
  /** Resolves when the latest response has been sent. */
  last: Promise<void>;
  /** Whether the server has rejected what the client sends, for example because it is not HTTP or arrives too slowly. */
  isRejected: boolean;
}

/**
 * Serves the API on the loopback interface. Like API Gateway, the server handles the requests on a connection one after
 * another. It rejects requests that are malformed or slow, or have a long URL or long headers, without asking the API.
 *
 * @param port port to listen on, or 0 for any free port
 * @throws EmulatorError if the port cannot be used, or if the machine has no loopback address.
 */
export async function serve(api: ApiGateway, port: number, settings: ServerSettings = {}) {
  const connections = new Map<Duplex, Connection>();
  let isClosing = false;

  function onConnection(socket: Duplex): void {
    connections.set(socket, { responses: new Set(), last: Promise.resolve(), isRejected: false });
    socket.once('close', () => connections.delete(socket));
  }

  function onRequest(incoming: http.IncomingMessage, outgoing: http.ServerResponse): void {
    const start = performance.now();
    const { socket } = incoming;
    const connection = connections.get(socket)!;
    const { responses } = connection;
    responses.add(outgoing);
    // The server stops reading here, because a client can send any number of requests without reading the responses.
    if (responses.size >= MAX_PIPELINED_REQUESTS) socket.pause();
    connection.last = respondAfter(connection.last);

    async function respondAfter(previous: Promise<void>): Promise<void> {
      await previous;
      // If the connection is closed, its remaining requests must have no effect, because nobody can get their
      // responses.
      if (!socket.destroyed) await respond(incoming, outgoing, start);
      responses.delete(outgoing);
      if (socket.isPaused() && responses.size < MAX_PIPELINED_REQUESTS) socket.resume();
    }
  }

  /** Responds to a request. Returns when the response has been sent or the connection is closed. */
  async function respond(
    incoming: http.IncomingMessage,
    outgoing: http.ServerResponse,
    start: number,
  ): Promise<void> {
    // When the API stops reading a body that is too large, the connection stays open for the response.
    const body = incoming.iterator({ destroyOnReturn: false });
    const request: HttpRequest = { ...readHead(incoming), body };

    async function send(response: HttpResponse): Promise<void> {
      if (incoming.socket.writableEnded) return; // The client has already got a 4xx for the request's malformed body.
      // During the shutdown, clients must not send more requests on open connections.
      if (isClosing) outgoing.shouldKeepAlive = false;
      writeHead(outgoing, response);
      settings.onResponse?.(request, response.status, performance.now() - start);
      await writeBody(outgoing, response.body, incoming);
    }

    try {
      const first = await settings.respondFirst?.(request);
      await send(first ?? (await api.handle(request)));
    } catch (error) {
      const hasDisconnected = incoming.destroyed && !incoming.complete;
      if (!hasDisconnected) {
        console.error(error);
        await send(api.gatewayResponse('DEFAULT_5XX'));
      }
    }
    await closed(outgoing, incoming.socket);
  }

  /** Sends the responses in progress and a 4xx, and closes the connection. */
  async function reject({ code = '', message }: NodeJS.ErrnoException, socket: Duplex): Promise<void> {
    const connection = connections.get(socket);
    if (!connection || connection.isRejected) return; // Node reports an error for each further chunk.
    connection.isRejected = true;
    for (const outgoing of connection.responses) if (outgoing.req.complete) await closed(outgoing, socket);

    const incomplete = connection.responses.values().find(({ req }) => !req.complete);
    if (socket.writable && !incomplete?.headersSent) {
      const status = STATUS_BY_ERROR[code] ?? 400;
      socket.write(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`);
      // Browsers open connections without using all of them, so a timeout is not reported.
      if (code.startsWith('HPE_')) settings.onMalformed?.(message, status);
    }
    socket.end();
    // If the client is still sending, closing the connection at once could discard the response.
    setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref();
  }

  const { servers, port: servedPort } = await listen(port, (server) =>
    server
      .on('connection', onConnection)
      .on('request', onRequest)
      .on('clientError', reject)
      // Without this listener, Node would close the connection after a CONNECT request, before the server sends the
      // responses in progress.
      .on('connect', (_request, socket) =>
        reject(new Error('CONNECT'), socket.on('error', () => {}).resume()),
      ),
  );
  return {
    port: servedPort,
    /** Closes the server when the requests in progress have ended, or after SHUTDOWN_MILLISECONDS. */
    close: async (): Promise<void> => {
      isClosing = true;
      const allClosed = closeAll(servers);
      const timeout = once(AbortSignal.timeout(SHUTDOWN_MILLISECONDS), 'abort');
      // The loops include connections and requests that arrive meanwhile.
      for (const [socket, { responses }] of connections)
        for (const outgoing of responses) await Promise.race([closed(outgoing, socket), timeout]);
      // Node does not close connections on which no request has arrived, so they are closed here.
      for (const server of servers) server.closeAllConnections();
      await allClosed;
    },
  };
}

/** Waits until the response has been sent or the connection is closed. */
async function closed(outgoing: http.ServerResponse, socket: Duplex): Promise<void> {
  if (outgoing.closed || socket.destroyed) return;
  const ended = new AbortController();
  const { signal } = ended;
  await Promise.race([once(outgoing, 'close', { signal }), once(socket, 'close', { signal })]).catch(
    () => {},
  );
  ended.abort();
}

function readHead({ method = '', url = '', rawHeaders, socket }: http.IncomingMessage) {
  // RFC 9112 section 3.2.2 allows absolute URLs as request targets, so the pattern skips a scheme and a host.
  const [, path = '', query = ''] = /^(?:https?:\/\/[^/?]*)?([^?]*)\??(.*)$/is.exec(url) ?? [];
  // In `rawHeaders`, each name is followed by its value.
  const headers: Pair[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.push([rawHeaders[index]!, rawHeaders[index + 1]!]);
  // As with API Gateway, the URLs in responses do not depend on a host that the client makes up.
  const host = localHost({ headers }) ?? `localhost:${socket.localPort}`;
  return { method, path, query, headers, host, sourceIp: socket.remoteAddress ?? '' };
}

function writeHead(outgoing: http.ServerResponse, { status, headers, body }: HttpResponse): void {
  // RFC 9110 section 8.6 forbids Content-Length in a 204.
  const length = status === 204 ? {} : { 'Content-Length': Buffer.byteLength(body) };
  // The text of the status is set too. Otherwise, if an earlier call failed at an invalid header, Node would send the
  // text of that call's status.
  outgoing.writeHead(status, http.STATUS_CODES[status] ?? '', { ...headers, ...length });
}

async function writeBody(
  outgoing: http.ServerResponse,
  body: string,
  incoming: http.IncomingMessage,
): Promise<void> {
  if (incoming.complete) {
    outgoing.end(body);
    return;
  }
  // The client is still sending a body. Closing the connection before the body ends could discard the response.
  outgoing.flushHeaders();
  outgoing.write(body);
  await finished(incoming.resume()).catch(() => {}); // The client has disconnected.
  outgoing.end();
}

/** Checks a port. @throws EmulatorError if the port cannot be used, or if the machine has no loopback address. */
export async function requireFreePort(port: number): Promise<void> {
  const { servers } = await listen(port);
  await closeAll(servers);
}

async function closeAll(servers: http.Server[]): Promise<void> {
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
}

/**
 * Listens on 127.0.0.1 and ::1, unless the machine lacks one of them, so that no other program receives requests to
 * localhost. Port 0 selects a port that is free on both addresses.
 *
 * @throws EmulatorError if the port cannot be used, or if the machine has no loopback address.
 */
async function listen(port: number, prepare = (server: http.Server) => server) {
  const servers: http.Server[] = [];
  let chosen = port;
  for (const host of LOOPBACK_ADDRESSES) {
    const server = prepare(http.createServer({ maxHeaderSize: MAX_HEAD_BYTES }));
    // A client can close its side of the connection after the request. By default, Node would then send no response.
    Object.assign(server, { httpAllowHalfOpen: true });
    try {
      const used = await listenOn(server, host, chosen);
      if (used === undefined) continue;
      chosen = used;
      servers.push(server);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      await closeAll(servers);
      // The port was free on 127.0.0.1, but another program uses it on ::1. The next attempt selects another port.
      if (port === 0 && code === 'EADDRINUSE') return listen(port, prepare);
      throw new EmulatorError(`Port ${port} cannot be used (${message}). Choose another port.`);
    }
  }
  if (servers.length === 0) throw missingLoopback();
  return { port: chosen, servers };
}
