import { once } from 'node:events';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { text } from 'node:stream/consumers';

export interface OutgoingRequest {
  method: string;
  /** Path and query, exactly as they are sent. */
  target: string;
  headers: [name: string, value: string][];
  body?: string | Uint8Array | undefined;
}

export type HttpReply = Awaited<ReturnType<typeof sendHttp>>;

/**
 * Sends a request and reads the response. Unlike `fetch`, this function sends the path and the given headers unchanged.
 * It adds only `Host` and, for a body, `Content-Length`.
 */
export async function sendHttp(origin: string, { method, target, headers, body }: OutgoingRequest) {
  const fields = [['Host', new URL(origin).host], ...headers];
  // Without this header, Node.js would not send the length of a GET request's body, and the server would parse the body
  // as the next request.
  if (body !== undefined) fields.push(['Content-Length', Buffer.byteLength(body).toString()]);
  const send = origin.startsWith('https:') ? requestByHttps : requestByHttp;
  // Without TLS, each request opens a connection. The local service closes idle connections after a few seconds, and on a
  // busy machine, a request could reuse a connection while the service closes it.
  const agent = origin.startsWith('https:') ? undefined : false;
  const outgoing = send(origin, { method, path: target, headers: fields.flat(), agent });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const received = new Headers(incoming.headers as Record<string, string>);
  return { status: incoming.statusCode ?? 0, headers: received, text: await text(incoming) };
}
