import { once } from 'node:events';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { parseJson } from '../../shared/contract/json.ts';
import { contract } from './contract.ts';

/** The service under test, as the environment names it. */
export const baseAddress = process.env['BASE_URL'] ?? '';
/** Whether that is a stage on AWS rather than a local service. */
export const isDeployed = baseAddress.startsWith('https:');
export const apiKey = process.env['API_KEY'] ?? '';
/** What precedes the version in every address: the host, and the stage where addresses name it. */
export const rootAddress = baseAddress.replace(/\/v1$/, '');

const { contradictions } = contract();

export interface Answer {
  status: number;
  headers: Headers;
  /** The body as it came. */
  text: string;
  /** The body with its integers as bigint; undefined when it is empty. */
  body: any;
}

interface Init {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** A request with the key; `address` is below the base address, or absolute. */
export async function request(address: string, init: Init = {}): Promise<Answer> {
  return anonymousRequest(address, {
    ...init,
    headers: { Authorization: `Bearer ${apiKey}`, ...init.headers },
  });
}

/**
 * Sends the address and the headers as given: fetch would rewrite a path and add a Content-Type.
 *
 * @throws Error when request and answer contradict openapi.json.
 */
export async function anonymousRequest(address: string, init: Init = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = init;
  const url = address.startsWith('http') ? address : `${baseAddress}${address}`;
  const [, origin = '', path = ''] = /^(https?:\/\/[^/?]+)(.*)$/.exec(url) ?? [];
  const send = url.startsWith('https:') ? requestByHttps : requestByHttp;
  const outgoing = send(origin, {
    method,
    path,
    // Of some methods Node frames no body by itself: the next request on the connection would begin with it.
    headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) },
  });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  const content = await text(incoming);
  const answer = {
    status: incoming.statusCode ?? 0,
    headers: new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
    text: content,
  };
  const target = url.startsWith(`${baseAddress}/`) ? url.slice(baseAddress.length) : url;
  const problems = contradictions({ method, target, headers, body, answer });
  if (problems.length > 0) throw new Error(`Against openapi.json:\n${problems.join('\n')}`);
  return { ...answer, body: content === '' ? undefined : parseJson(content) };
}

/** Adds a pet; `body` is an object, or the text or bytes to send as they are. */
export async function postPet(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return request('/pets', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
}

/** The address in a Link header with this relation (RFC 8288). */
export function linkTo(relation: string, { headers }: Answer): string | undefined {
  return new RegExp(`<([^>]*)>; rel="${relation}"`).exec(headers.get('Link') ?? '')?.[1];
}
