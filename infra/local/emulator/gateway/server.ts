import { once } from 'node:events';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { finished } from 'node:stream/promises';
import type { ApiGateway } from './api-gateway.ts';
import { EmulatorError } from '../errors.ts';
import type { HttpRequest, HttpResponse, Pair } from './http-message.ts';

/**
 * Maximum size of the URL and the headers together. API Gateway limits each to 10,240 bytes.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
const MAX_HEAD_BYTES = 2 * 10_240;
const SHUTDOWN_MILLISECONDS = 10_000;

export interface ServerSettings {
  /** Handler that runs before the API and returns undefined for API requests. */
  respondFirst?: (request: HttpRequest) => Promise<HttpResponse | undefined>;
  onResponse?: (request: HttpRequest, status: number, milliseconds: number) => void;
}

/** Serves the API on the loopback interface. Node itself responds to malformed or slow requests, and to long heads. */
export async function serve(api: ApiGateway, port: number, settings: ServerSettings = {}) {
  const inProgress = new Set<http.ServerResponse>();
  let isClosing = false;

  async function handle(incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> {
    const start = performance.now();
    inProgress.add(outgoing);
    outgoing.once('close', () => inProgress.delete(outgoing));
    const request: HttpRequest = { ...readHead(incoming), body: incoming };

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

  const { servers, port: servedPort } = await listen(port, handle);
  return {
    port: servedPort,
    /** Closes the server when the requests in progress have ended, or after SHUTDOWN_MILLISECONDS. */
    close: async (): Promise<void> => {
      isClosing = true;
      const closed = closeAll(servers);
      const signal = AbortSignal.timeout(SHUTDOWN_MILLISECONDS);
      // The loop includes requests that arrive during the loop.
      for (const outgoing of inProgress) await once(outgoing, 'close', { signal }).catch(() => {});
      // Node does not close connections on which no request has arrived.
      for (const server of servers) server.closeAllConnections();
      await closed;
    },
  };
}

function readHead({ method = '', url = '', rawHeaders, socket }: http.IncomingMessage) {
  // RFC 9112 section 3.2.2 allows absolute URLs as request targets.
  const [, path = '', query = ''] = /^(?:https?:\/\/[^/?]*)?([^?]*)\??(.*)$/is.exec(url) ?? [];
  // In `rawHeaders`, each name is followed by its value.
  const headers: Pair[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.push([rawHeaders[index]!, rawHeaders[index + 1]!]);
  return { method, path, query, headers, sourceIp: socket.remoteAddress ?? '' };
}

function writeHead(outgoing: http.ServerResponse, { status, headers, body }: HttpResponse): void {
  // RFC 9110 section 8.6 forbids Content-Length in a 204.
  const length = status === 204 ? {} : { 'Content-Length': Buffer.byteLength(body) };
  outgoing.writeHead(status, { ...headers, ...length });
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
  await finished(incoming.resume());
  outgoing.end();
}

/** @throws EmulatorError if the port cannot be used. */
export async function requireFreePort(port: number): Promise<void> {
  const { servers } = await listen(port);
  await closeAll(servers);
}

async function closeAll(servers: http.Server[]): Promise<void> {
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
}

/**
 * Listens on 127.0.0.1 and, if the machine has IPv6, on ::1, so that no other program receives requests to localhost.
 * Port 0 selects a port that is free on both addresses.
 *
 * @throws EmulatorError if the port cannot be used.
 */
async function listen(port: number, handle?: http.RequestListener) {
  const servers: http.Server[] = [];
  let chosen = port;
  for (const host of ['127.0.0.1', '::1']) {
    const server = http.createServer({ maxHeaderSize: MAX_HEAD_BYTES }, handle);
    // By default, Node sends no response on a half-closed connection.
    Object.assign(server, { httpAllowHalfOpen: true });
    try {
      await once(server.listen(chosen, host), 'listening');
      chosen = (server.address() as AddressInfo).port;
      servers.push(server);
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      const isMissingAddress = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code);
      if (isMissingAddress) continue;
      await closeAll(servers);
      // Another program uses the port that 127.0.0.1 selected on ::1.
      if (port === 0 && code === 'EADDRINUSE') return listen(port, handle);
      throw new EmulatorError(`Port ${port} cannot be used (${message}). Choose another port.`);
    }
  }
  return { port: chosen, servers };
}
