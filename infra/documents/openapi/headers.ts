import { challenge } from '../../../shared/contract/authorization.ts';
import { errorCatalogue, type ErrorCode, errorCodes } from '../../../shared/contract/errors.ts';
import { gatewayErrorCodes } from '../../../shared/contract/gateway-responses.ts';
import { type Operation, operations } from '../../../shared/contract/operations.ts';
import { ListPetsQuery, Pet } from '../../../shared/contract/schemas.ts';
import { exampleOf, PRODUCTION_DOMAIN } from './examples.ts';

type Presence = 'always' | 'sometimes';

const BASE_URL = `https://${PRODUCTION_DOMAIN}/v1`;
const { limit, status, cursor } = exampleOf(ListPetsQuery) as Record<string, unknown>;
const { id } = exampleOf(Pet) as { id: bigint };

const responseHeaders = {
  RequestId: {
    name: 'x-amzn-RequestId',
    description: 'Id of the request. Include it when you contact the operator.',
    schema: { type: 'string' },
    example: '3c436e3c-4f1a-4ec3-9e92-dd89cd42a1b1',
  },
  CacheControl: {
    name: 'Cache-Control',
    description: 'Caches must not store the response.',
    schema: { type: 'string', enum: ['no-store'] },
    example: 'no-store',
  },
  NextPage: {
    name: 'Link',
    description: 'URL of the next page (RFC 8288), if there is one.',
    schema: { type: 'string', pattern: '<[^>]+>; rel="next"' },
    example: `<${BASE_URL}/pets?limit=${String(limit)}&status=${String(status)}&cursor=${String(cursor)}>; rel="next"`,
  },
  Location: {
    name: 'Location',
    description: 'URL of the new pet (RFC 9110).',
    schema: { type: 'string', format: 'uri' },
    example: `${BASE_URL}/pets/${id}`,
  },
  Deprecation: {
    name: 'Deprecation',
    description: 'Time of the deprecation, in seconds since 1970 (RFC 9745).',
    schema: { type: 'string', pattern: '^@[0-9]+$' },
    example: '@1795219200',
  },
  Sunset: {
    name: 'Sunset',
    description: 'Time after which the operation will be removed (RFC 8594).',
    schema: { type: 'string' },
    example: 'Thu, 05 Dec 2030 00:00:00 GMT',
  },
  Successor: {
    name: 'Link',
    description: 'URL of the replacement (RFC 5829).',
    schema: { type: 'string', pattern: '<[^>]+>; rel="successor-version"' },
    example: `<${BASE_URL}/pets>; rel="successor-version"`,
  },
  Challenge: {
    name: 'WWW-Authenticate',
    description: 'Required authentication scheme (RFC 6750).',
    schema: { type: 'string', enum: [challenge] },
    example: challenge,
  },
  Allow: {
    name: 'Allow',
    description: 'Methods that the URL supports (RFC 9110).',
    schema: { type: 'string' },
    example: 'GET, POST',
  },
  RetryAfter: {
    name: 'Retry-After',
    description: 'Seconds to wait before a retry (RFC 9110).',
    schema: { type: 'string', pattern: '^[0-9]+$' },
    example: '1',
  },
} as const;

const { NextPage: _, Allow: __, ...sharedHeaders } = responseHeaders;

type HeaderKey = keyof typeof responseHeaders;
type ResponseHeaders = Partial<Record<HeaderKey, Presence>>;

const everywhere: ResponseHeaders = { RequestId: 'always', CacheControl: 'always' };

export function headersOfSuccess(operation: Operation): ResponseHeaders {
  return { ...everywhere, ...operation.success.headers, ...deprecationHeaders(operation, 'always') };
}

/** Returns the headers of an error response. Omit `operation` if the request does not match an operation. */
export function headersOfError(code: ErrorCode, operation?: Operation): ResponseHeaders {
  const { headers, retryAfterSeconds, isOfAllFunctions } = errorCatalogue[code];
  const isOfFunction = operation && (isOfAllFunctions || code in operation.errors);
  const isOfGateway = gatewayErrorCodes('operations').includes(code);
  return {
    ...everywhere,
    ...headers,
    ...(retryAfterSeconds && { RetryAfter: 'always' }),
    // Responses that API Gateway generates have no deprecation headers.
    ...(isOfFunction && deprecationHeaders(operation, isOfGateway ? 'sometimes' : 'always')),
  };
}

function deprecationHeaders({ deprecation }: Operation, presence: Presence): ResponseHeaders {
  return deprecation ? { Deprecation: presence, Sunset: presence, Successor: presence } : {};
}

/** Returns header objects by name. A shared header that is always present is a reference to its component. */
export function headersObject(headers: ResponseHeaders): object {
  return Object.fromEntries(
    Object.entries(headers).map(([key, presence]) => {
      const { name, ...header } = responseHeaders[key as HeaderKey];
      if (presence === 'sometimes') return [name, header];
      const isComponent = key in sharedHeaders;
      return [name, isComponent ? { $ref: `#/components/headers/${key}` } : { ...header, required: true }];
    }),
  );
}

/** Returns the shared headers that responses of the operations can have. */
export function headerComponents(): object {
  const responses = Object.values<Operation>(operations).flatMap((operation) => [
    headersOfSuccess(operation),
    ...errorCodes.map((code) => headersOfError(code, operation)),
  ]);
  const keys = new Set(responses.flatMap(Object.keys));
  const used = Object.entries(sharedHeaders).filter(([key]) => keys.has(key));
  return Object.fromEntries(
    used.map(([key, { name: _name, ...header }]) => [key, { ...header, required: true }]),
  );
}
