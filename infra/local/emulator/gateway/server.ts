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
  const respond: http.RequestListener = async (incoming, outgoing) => {
    const start = performance.now();
    inProgress.add(outgoing);
    outgoing.once('close', () => inProgress.delete(outgoing));
    const request = { ...readHead(incoming), body: incoming };
    const send = async ({ status, headers, body }: HttpResponse): Promise<void> => {
      // During the shutdown, clients must not send more requests on open connections.
      if (isClosing) outgoing.shouldKeepAlive = false;
      // RFC 9110 section 8.6 forbids Content-Length in a 204.
      const length = status !== 204 && { 'Content-Length': Buffer.byteLength(body) };
      outgoing.writeHead(status, { ...headers, ...length });
      settings.onResponse?.(request, status, performance.now() - start);
      if (incoming.complete) return void outgoing.end(body);
      // The client is still sending a body. Closing the connection before the body ends could discard the response.
      outgoing.flushHeaders();
      outgoing.write(body);
      await finished(incoming.resume());
      outgoing.end();
    };
    try {
      await send((await settings.respondFirst?.(request)) ?? (await api.handle(request)));
    } catch (error) {
      if (incoming.destroyed && !incoming.complete) return; // The client disconnected.
      console.error(error);
      await send(api.gatewayResponse('DEFAULT_5XX'));
    }
  };

  let isClosing = false;
  const { servers, ...address } = await listen(port, respond);
  return {
    ...address,
    /** Closes the server when the requests in progress have ended, or after SHUTDOWN_MILLISECONDS. */
    async close(): Promise<void> {
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

/** @throws EmulatorError if the port cannot be used. */
export async function requireFreePort(port: number): Promise<void> {
  await closeAll((await listen(port)).servers);
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
async function listen(port: number, respond?: http.RequestListener) {
  const servers: http.Server[] = [];
  let chosen = port;
  for (const host of ['127.0.0.1', '::1']) {
    const server = http.createServer({ maxHeaderSize: MAX_HEAD_BYTES }, respond);
    // By default, Node sends no response on a half-closed connection.
    Object.assign(server, { httpAllowHalfOpen: true });
    try {
      await once(server.listen(chosen, host), 'listening');
      chosen = (server.address() as AddressInfo).port;
      servers.push(server);
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code)) continue;
      await closeAll(servers);
      if (port === 0 && code === 'EADDRINUSE') return listen(port, respond);
      throw new EmulatorError(`Port ${port} cannot be used (${message}). Choose another port.`);
    }
  }
  return { port: chosen, servers };
}

function readHead({ method = '', url = '', rawHeaders, socket }: http.IncomingMessage) {
  // RFC 9112 section 3.2.2 allows absolute URLs as request targets.
  const [, path = '', query = ''] = /^(?:https?:\/\/[^/?]*)?([^?]*)\??(.*)$/is.exec(url) ?? [];
  const headers = rawHeaders.flatMap((name, i): Pair[] => (i % 2 === 0 ? [[name, rawHeaders[i + 1]!]] : []));
  return { method, path, query, headers, sourceIp: socket.remoteAddress ?? '' };
}
