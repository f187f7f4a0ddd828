import * as http from 'node:http';
import type { Socket } from 'node:net';
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
/** Maximum time for which a shutdown waits for the requests in progress. */
const SHUTDOWN_MILLISECONDS = 10_000;
export interface ServerSettings {
  /** Handler that runs before the API and returns undefined for API requests. */
  respondFirst?: (request: HttpRequest) => Promise<HttpResponse | undefined>;
  onResponse?: (request: HttpRequest, status: number, milliseconds: number) => void;
}

/**
 * Serves the API on the loopback interface. Node rejects requests that are malformed or slow, or have a long URL or long
 * headers, without asking the API.
 *
 * @param port port to listen on, or 0 for any free port
 * @throws EmulatorError if the port cannot be used, or if the machine has no loopback address.
 */
export async function serve(api: ApiGateway, port: number, settings: ServerSettings = {}) {
  let isClosing = false;
  const connections = new Set<Socket>();

  function keep(socket: Socket): void {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  }

  async function respond(incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> {
    const start = performance.now();
    // When the API stops reading a body that is too large, the connection stays open for the response.
    const body = incoming.iterator({ destroyOnReturn: false });
    const request: HttpRequest = { ...readHead(incoming), body };

    async function send(response: HttpResponse): Promise<void> {
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
      if (hasDisconnected) return;
      console.error(error);
      await send(api.gatewayResponse('DEFAULT_5XX'));
    }
  }

  const { servers, port: servedPort } = await listen(port, (server) =>
    server.on('connection', keep).on('request', respond),
  );
  return {
    port: servedPort,
    /** Closes the server when the requests in progress have ended, or after SHUTDOWN_MILLISECONDS. */
    close: async (): Promise<void> => {
      isClosing = true;
      // Browsers connect in advance, and Node would wait for the first request of such a connection.
      for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
      const timer = setTimeout(
        () => servers.forEach((server) => server.closeAllConnections()),
        SHUTDOWN_MILLISECONDS,
      );
      await closeAll(servers);
      clearTimeout(timer);
    },
  };
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
