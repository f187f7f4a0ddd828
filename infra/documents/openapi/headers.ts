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

/** Returns a header whose value is a string. `rules` are keywords of its schema. */
function header(name: string, description: string, example: string, rules?: object) {
  return { name, content: { description, schema: { type: 'string', ...rules }, example } };
}

const sharedHeaders = {
  RequestId: header(
    'x-amzn-RequestId',
    'Id of the request. Include it when you contact the operator.',
    '3c436e3c-4f1a-4ec3-9e92-dd89cd42a1b1',
  ),
  CacheControl: header('Cache-Control', 'Caches must not store the response.', 'no-store', {
    enum: ['no-store'],
  }),
  Location: header('Location', 'URL of the new pet (RFC 9110).', `${BASE_URL}/pets/${id}`, { format: 'uri' }),
  Deprecation: header(
    'Deprecation',
    'Time of the deprecation, in seconds since 1970 (RFC 9745).',
    '@1795219200',
    { pattern: '^@[0-9]+$' },
  ),
  Sunset: header(
    'Sunset',
    'Time after which the operation will be removed (RFC 8594).',
    'Thu, 05 Dec 2030 00:00:00 GMT',
  ),
  Successor: header(
    'Link',
    'URL of the replacement (RFC 5829).',
    `<${BASE_URL}/pets>; rel="successor-version"`,
    { pattern: '<[^>]+>; rel="successor-version"' },
  ),
  Challenge: header('WWW-Authenticate', 'Required authentication scheme (RFC 6750).', challenge, {
    enum: [challenge],
  }),
  RetryAfter: header('Retry-After', 'Seconds to wait before a retry (RFC 9110).', '1', {
    pattern: '^[0-9]+$',
  }),
};

const responseHeaders = {
  ...sharedHeaders,
  NextPage: header(
    'Link',
    'URL of the next page (RFC 8288), if there is one.',
    `<${BASE_URL}/pets?limit=${String(limit)}&status=${String(status)}&cursor=${String(cursor)}>; rel="next"`,
    { pattern: '<[^>]+>; rel="next"' },
  ),
  Allow: header('Allow', 'Methods that the URL supports (RFC 9110).', 'GET, POST'),
};

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
      const { name, content } = responseHeaders[key as HeaderKey];
      if (presence === 'sometimes') return [name, content];
      const isShared = key in sharedHeaders;
      return [name, isShared ? { $ref: `#/components/headers/${key}` } : { ...content, required: true }];
    }),
  );
}

/** Returns the shared headers that responses of the operations can have. */
export function headerComponents(): object {
  const responses = Object.values<Operation>(operations).flatMap((operation) => [
    headersOfSuccess(operation),
    ...errorCodes.map((code) => headersOfError(code, operation)),
  ]);
  const used = Object.entries(sharedHeaders).filter(([key]) => responses.some((headers) => key in headers));
  return Object.fromEntries(used.map(([key, { content }]) => [key, { ...content, required: true }]));
}
