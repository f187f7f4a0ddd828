import { expect } from '@jest/globals';
import { once } from 'node:events';
import { type IncomingMessage, request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { errorCatalogue, type ErrorCode } from '../../shared/contract/errors.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { awsRejections, type SentRequest } from './aws-rejections.ts';
import { contract } from './contract.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';

/** Base URL of the service under test. */
export const baseUrl = process.env['BASE_URL'] ?? '';
/** Whether the service is a stage on AWS. `npm run smoke` sets the variable. */
const isDeployed = baseUrl.startsWith('https:') || process.env['PET_STORE_DEPLOYED'] === 'true';
export const apiKey = process.env['API_KEY'] ?? '';
/** The base URL without the version: the host, followed by the stage if the host serves several stages. */
export const rootUrl = baseUrl.replace(/\/v1$/, '');

const { contradictions } = contract();

export interface ApiResponse {
  method: string;
  /** 0 if the connection was closed without a response. */
  status: number;
  headers: Headers;
  /** The body as received. */
  text: string;
  /** The parsed body with its integers as bigint, or undefined if it is empty or may be AWS's own. */
  body: any;
  /** Whether a deployed stage rejected a request that is listed in aws-rejections.ts, with any 4xx. */
  isRejectedByAws: boolean;
}
type Received = Pick<ApiResponse, 'status' | 'headers' | 'text'>;

interface Init {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array | undefined;
}

/** Sends a request with the API key. `address` is absolute, or relative to the base URL. */
export async function request(address: string, init: Init = {}): Promise<ApiResponse> {
  return anonymousRequest(address, {
    ...init,
    headers: { Authorization: `Bearer ${apiKey}`, ...init.headers },
  });
}

/**
 * Sends a request without changing its URL and headers. (`fetch` would normalize the path and add a Content-Type.)
 *
 * @throws Error if the request or response contradicts openapi.json.
 */
export async function anonymousRequest(address: string, init: Init = {}): Promise<ApiResponse> {
  const { method = 'GET', headers = {}, body } = init;
  const url = address.startsWith('http') ? address : `${baseUrl}${address}`;
  const [, origin = '', path = ''] = /^(https?:\/\/[^/?]+)(.*)$/.exec(url) ?? [];
  const sent = { method, target: path, headers, body };
  const rejection = isDeployed ? awsRejections.find(({ matches }) => matches(sent)) : undefined;
  const response = await untilNotThrottled(origin, sent).catch((error: unknown) => {
    if (rejection && !rejection.status) return { status: 0, headers: new Headers(), text: '' };
    throw error;
  });
  // Servers respond with 501 to unknown methods (RFC 9110 section 15.6.2).
  const { status } = response;
  const isRejection = status === 0 || status === 501 || (status >= 400 && status < 500);
  const isRejectedByAws = rejection !== undefined && isRejection;
  if (isRejectedByAws) {
    // AWS documents only some of these responses.
    const mediaType = response.headers.get('Content-Type') ?? 'no body';
    process.stdout.write(
      `Accepted as a rejection: ${status} (${mediaType}) to ${method} ${path.slice(0, 80)}\n`,
    );
    return { ...response, method, body: undefined, isRejectedByAws };
  }

  const target = url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url;
  const problems = contradictions({ ...sent, target, response });
  if (problems.length > 0) throw new Error(`Against openapi.json:\n${problems.join('\n')}`);
  const parsed = response.text === '' ? undefined : parseJson(response.text);
  return { ...response, method, body: parsed, isRejectedByAws };
}

/**
 * Retries a request that a deployed stage throttles. A 429 is sent before any function runs. A 503 may mean that Lambda
 * has too few instances, but may also follow a stored pet, so it is retried only if that cannot add another pet.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway-errors.html
 */
async function untilNotThrottled(origin: string, sent: SentRequest): Promise<Received> {
  const isRetriable = sent.method !== 'POST' || new Headers(sent.headers).has('Idempotency-Key');
  const deadline = Date.now() + WAIT_LIMIT_MILLISECONDS;
  for (;;) {
    const response = await send(origin, sent);
    const isThrottled = isDeployed && (response.status === 429 || (response.status === 503 && isRetriable));
    const pause = 1_000 * Number(response.headers.get('Retry-After') ?? 1);
    if (!isThrottled || Date.now() + pause > deadline) return response;
    await setTimeout(pause);
  }
}

async function send(origin: string, { method, target, headers, body }: SentRequest): Promise<Received> {
  const outgoing = (origin.startsWith('https:') ? requestByHttps : requestByHttp)(origin, {
    method,
    path: target,
    // Without this header, Node does not frame the bodies of some methods, and the next request would start with one.
    headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) },
  });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return {
    status: incoming.statusCode ?? 0,
    headers: new Headers(incoming.headers as Record<string, string>),
    text: await text(incoming),
  };
}

/** Creates a pet and returns the response. Text and bytes are sent as the body unchanged, an object as JSON. */
export async function postPet(body: unknown, headers: Record<string, string> = {}): Promise<ApiResponse> {
  return request('/pets', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
}

/** Returns the URL in a Link header with this relation (RFC 8288). */
export function linkTo(relation: string, { headers }: ApiResponse): string | undefined {
  return new RegExp(`<([^>]*)>; rel="${relation}"`).exec(headers.get('Link') ?? '')?.[1];
}

// Every response has been compared with openapi.json: its headers, its media type and the fields of its body.

export function expectSuccess(response: ApiResponse, status: 200 | 201): void {
  expect({ status: response.status, body: response.text }).toEqual({ status, body: expect.any(String) });
}

/** Expects the Error body with this code and the code's status, or any rejection where AWS may reject the request. */
export function expectError(
  response: ApiResponse,
  code: ErrorCode,
  message: unknown = expect.any(String),
): void {
  if (response.isRejectedByAws) return;
  const { status } = errorCatalogue[code];
  const body = response.method === 'HEAD' ? undefined : { code, message, status: BigInt(status) };
  expect({ status: response.status, body: response.body }).toEqual({ status, body });
}
