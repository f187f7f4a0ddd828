import { expect } from '@jest/globals';
import { setTimeout } from 'node:timers/promises';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { awsRejections, type SentRequest } from './aws-rejections.ts';
import { contract } from '../support/contract.ts';
import { type HttpReply, sendHttp } from '../support/http.ts';
import { WAIT_LIMIT_MILLISECONDS } from '../support/limits.ts';

/** Base URL of the service under test. */
export const baseUrl = process.env['BASE_URL'] ?? '';
/** Whether the service is a stage on AWS. `npm run smoke` sets DEPLOYED_STAGE. */
export const isDeployed = baseUrl.startsWith('https:') || process.env['DEPLOYED_STAGE'] === 'true';
export const apiKey = process.env['API_KEY'] ?? '';
const publicUrl = process.env['PUBLIC_URL'];
/** Base URL of the URLs in responses, which differs from `baseUrl` if the stage has a `publicUrl`. */
export const publicBaseUrl = publicUrl ? `${publicUrl}/v1` : baseUrl;
/** The base URL without `/v1`. */
export const rootUrl = baseUrl.replace(/\/v1$/, '');

const { contradictions } = contract();

/** A response. The status is 0 if AWS closed the connection without a response. */
export interface ApiResponse extends HttpReply {
  method: string;
  /** Method and address of the request, or what a test calls it, so that a failed expectation names the request. */
  sent: string;
  /** The parsed body with its integers as bigint, or undefined if the body is empty or AWS rejected the request. */
  body: any;
  /** Whether AWS itself rejected the request, as aws-rejections.ts allows. */
  isRejectedByAws: boolean;
}

type Init = Partial<Omit<SentRequest, 'target'>>;

/**
 * Sends a request with the API key. `address` is an absolute URL, or a path and query relative to the base URL. Requests
 * for the URLs in responses are sent to the base URL, because the tests do not test a proxy in front of the stage.
 */
export async function request(address: string, init: Init = {}): Promise<ApiResponse> {
  return anonymousRequest(address, {
    ...init,
    headers: { Authorization: `Bearer ${apiKey}`, ...init.headers },
  });
}

/**
 * Sends a request without adding an API key. Unlike `fetch`, this function neither normalizes the path nor adds a
 * Content-Type.
 *
 * @throws Error if the request or response contradicts openapi.json
 */
export async function anonymousRequest(address: string, init: Init = {}): Promise<ApiResponse> {
  const { method = 'GET', headers = {}, body, mayBeRejected } = init;
  const url = address.startsWith('http') ? address.replace(publicBaseUrl, baseUrl) : `${baseUrl}${address}`;
  const [, origin = '', path = ''] = /^(https?:\/\/[^/?]+)(.*)$/.exec(url) ?? [];
  const sent = { method, target: path, headers, body, mayBeRejected };
  const described = `${method} ${address.slice(0, 100)}`;
  const rejection = isDeployed ? awsRejections.find(({ matches }) => matches(sent)) : undefined;
  const response = await untilNotThrottled(origin, sent).catch((error: unknown) => {
    if (rejection && !rejection.status) return { status: 0, headers: new Headers(), text: '' };
    throw error;
  });
  // A rejection can also be a 501, because RFC 9110 (section 15.6.2) defines this status for unknown methods.
  const { status } = response;
  const isRejection = status === 0 || status === 501 || (status >= 400 && status < 500);
  const isRejectedByAws = rejection !== undefined && isRejection;
  if (isRejectedByAws) {
    // Each rejection by AWS is printed, because AWS documents only some of its rejections.
    const mediaType = response.headers.get('Content-Type') ?? 'no body';
    process.stdout.write(
      `Accepted as a rejection by AWS: ${status} (${mediaType}) to ${method} ${path.slice(0, 80)}\n`,
    );
    return { ...response, method, sent: described, body: undefined, isRejectedByAws };
  }

  const target = url.startsWith(`${baseUrl}/`) ? url.slice(baseUrl.length) : url;
  const problems = contradictions({ ...sent, target, response });
  if (problems.length > 0)
    throw new Error(`The request or response contradicts openapi.json:\n${problems.join('\n')}`);
  const parsed = response.text === '' ? undefined : parseJson(response.text);
  return { ...response, method, sent: described, body: parsed, isRejectedByAws };
}

/**
 * Sends a request, and retries it until a time limit while a deployed stage throttles it. After a 429, a retry is safe
 * because the operation has not run. A 503 can mean that Lambda had too few instances, or that a function failed after
 * it had stored an item. Therefore, after a 503, the request is retried only if the retry cannot create a duplicate.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway-errors.html
 */
async function untilNotThrottled(origin: string, sent: SentRequest): Promise<HttpReply> {
  const isRetriable = sent.method !== 'POST' || new Headers(sent.headers).has('Idempotency-Key');
  const deadline = Date.now() + WAIT_LIMIT_MILLISECONDS;
  for (;;) {
    const response = await sendHttp(origin, { ...sent, headers: Object.entries(sent.headers) });
    const isThrottled = isDeployed && (response.status === 429 || (response.status === 503 && isRetriable));
    const pause = 1_000 * Number(response.headers.get('Retry-After') ?? 1);
    if (!isThrottled || Date.now() + pause > deadline) return response;
    await setTimeout(pause);
  }
}

/** Sends a create request. If the body is a string or bytes, it is sent unchanged, and otherwise as JSON. */
export async function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  return request(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : stringifyJson(body),
  });
}

/** Returns the URL of the next page in the Link header (RFC 8288), or undefined if there is none. */
export function nextLink({ headers }: ApiResponse): string | undefined {
  return /<([^>]*)>; rel="next"/.exec(headers.get('Link') ?? '')?.[1];
}

// `request` has already compared each response with openapi.json, so the functions below check only status and body.

export function expectSuccess(response: ApiResponse, status: Operation['success']['status']): void {
  expect({ status: response.status, body: response.text }).toEqual({ status, body: expect.any(String) });
}

/** Expects the status and an Error body with the code. Passes if AWS itself rejected the request. */
export function expectError(
  response: ApiResponse,
  status: number,
  code: ErrorCode,
  message: unknown = expect.any(String),
): void {
  if (response.isRejectedByAws) return;
  const body = response.method === 'HEAD' ? undefined : { code, message, status: BigInt(status) };
  const { sent } = response;
  expect({ sent, status: response.status, body: response.body }).toEqual({ sent, status, body });
}
