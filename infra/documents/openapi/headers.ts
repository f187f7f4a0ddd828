import { challenge } from '../../../shared/contract/authorization.ts';
import { type ErrorCode, retryAfterSeconds } from '../../../shared/contract/errors.ts';
import type { Operation } from '../../../shared/contract/operations.ts';

type Presence = 'always' | 'sometimes';

/** What API Gateway, or the firewall before it, may refuse by itself, whichever operation was called. */
export const refusedByGateway: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'request_too_large',
  'too_many_requests',
  'internal_error',
  'service_unavailable',
  'gateway_timeout',
];

/** What the function of any operation may refuse, beside the operation's own errors. */
const refusedByFunctions = new Set<ErrorCode>(['internal_error', 'service_unavailable']);

/** Every header of an answer that means something, by the key of its component. */
export const responseHeaders = {
  RequestId: {
    name: 'x-amzn-RequestId',
    description: 'Id of the request, which finds it in the logs of the service.',
    schema: { type: 'string' },
    example: '3c436e3c-4f1a-4ec3-9e92-dd89cd42a1b1',
  },
  CacheControl: {
    name: 'Cache-Control',
    description: 'Answers are not to be kept by caches.',
    schema: { type: 'string', const: 'no-store' },
    example: 'no-store',
  },
  NextPage: {
    name: 'Link',
    description: 'Address of the next page (RFC 8288), while there is one.',
    schema: { type: 'string', pattern: '^<[^>]+>; rel="next"$' },
    example:
      '<https://petstore.example.com/v1/pets?limit=2&status=available&cursor=MjQ0MTQxODQzMzU0NTM1>; rel="next"',
  },
  Location: {
    name: 'Location',
    description: 'Address of the new pet (RFC 9110).',
    schema: { type: 'string', format: 'uri' },
    example: 'https://petstore.example.com/v1/pets/244141843387957',
  },
  Deprecation: {
    name: 'Deprecation',
    description: 'Since when the operation is deprecated, in seconds since 1970 (RFC 9745).',
    schema: { type: 'string', pattern: String.raw`^@\d+$` },
    example: '@1795219200',
  },
  Sunset: {
    name: 'Sunset',
    description: 'When the operation goes away (RFC 8594).',
    schema: { type: 'string' },
    example: 'Thu, 05 Dec 2030 00:00:00 GMT',
  },
  Successor: {
    name: 'Link',
    description: 'The operation to use instead (RFC 5829).',
    schema: { type: 'string', pattern: '^<[^>]+>; rel="successor-version"$' },
    example: '<https://petstore.example.com/v1/pets>; rel="successor-version"',
  },
  Challenge: {
    name: 'WWW-Authenticate',
    description: 'How to authenticate (RFC 6750).',
    schema: { type: 'string', const: challenge },
    example: challenge,
  },
  Allow: {
    name: 'Allow',
    description: 'The methods that the address takes (RFC 9110).',
    schema: { type: 'string' },
    example: 'GET, POST',
  },
  RetryAfter: {
    name: 'Retry-After',
    description: 'Seconds to wait before the request is repeated (RFC 9110).',
    schema: { type: 'string', pattern: String.raw`^\d+$` },
    example: '1',
  },
} as const;

export type HeaderKey = keyof typeof responseHeaders;
export type AnswerHeaders = Partial<Record<HeaderKey, Presence>>;

const everywhere: AnswerHeaders = { RequestId: 'always', CacheControl: 'always' };

/** Headers of an operation's success. */
export function headersOfSuccess({ success, deprecation }: Operation): AnswerHeaders {
  const { Link, Location } = success.headers ?? {};
  return {
    ...everywhere,
    ...(Link && { NextPage: Link }),
    ...(Location && { Location }),
    ...(deprecation && deprecationHeaders('always')),
  };
}

/** Headers of a refusal, of any operation or of this one. */
export function headersOfRefusal(code: ErrorCode, operation?: Operation): AnswerHeaders {
  const isOfFunction = operation?.errors.includes(code) || refusedByFunctions.has(code);
  return {
    ...everywhere,
    // The firewall's own answer to too many requests may lack it.
    ...(code === 'too_many_requests' && { RequestId: 'sometimes' }),
    ...(code === 'unauthorized' && { Challenge: 'always' }),
    ...(code === 'method_not_allowed' && { Allow: 'always' }),
    ...(retryAfterSeconds[code] !== undefined && { RetryAfter: 'always' }),
    // What is refused before the function is reached lacks them.
    ...(operation?.deprecation &&
      isOfFunction &&
      deprecationHeaders(refusedByGateway.includes(code) ? 'sometimes' : 'always')),
  };
}

function deprecationHeaders(presence: Presence): AnswerHeaders {
  return { Deprecation: presence, Sunset: presence, Successor: presence };
}
