import { challenge } from '../../shared/contract/gateway-errors.ts';
import type { CatalogEntry } from '../../shared/contract/errors.ts';
import type { Collection, Operation } from '../../shared/contract/operation.ts';
import { compactName } from '../../shared/names.ts';
import { exampleIds } from './descriptions.ts';
import { exampleOf, type Json } from './schema-objects.ts';
import { nextPage } from '../../shared/contract/lists.ts';

/** Placeholder for the domain of the API. */
export const PRODUCTION_DOMAIN = `${compactName}.example.com`;
const BASE_URL = `https://${PRODUCTION_DOMAIN}`;

/** Response headers that several responses have, by their keys in the document. */
export const headerComponents = {
  RequestId: header(
    'Id of the request. Include it when you contact the operator.',
    '3c436e3c-4f1a-4ec3-9e92-dd89cd42a1b1',
  ),
  RetryAfter: header('Seconds to wait before a retry (RFC 9110).', 1, {
    required: true,
    schema: { type: 'integer', format: 'int32', minimum: 0 },
  }),
};

/** The header of all responses except those of the firewall, which can lack it. */
const common = { 'x-amzn-RequestId': componentReference('RequestId') };

/** Returns the headers of a successful response by name. */
export function successHeaders(
  { success, path, request, deprecation }: Operation,
  collection: Collection,
): Json {
  const [newestId, lastId] = exampleIds(collection);
  return {
    ...common,
    ...(success.headers?.includes('Location') && {
      Location: header('URL of the created resource (RFC 9110).', `${BASE_URL}${path}/${newestId}`, {
        required: true,
        schema: { type: 'string', format: 'uri' },
      }),
    }),
    ...(success.headers?.includes('Link') && {
      Link: header(
        'URL of the next page (RFC 8288), if there is one.',
        linkTo(nextPage(collection, exampleOf(request.query), lastId!), 'next'),
      ),
    }),
    ...(deprecation && {
      Deprecation: header(
        'Time of the deprecation, in seconds since 1970 (RFC 9745).',
        `@${deprecation.since.getTime() / 1_000}`,
        { required: true },
      ),
      Sunset: header(
        'Time after which the operation will be removed (RFC 8594).',
        deprecation.sunset.toUTCString(),
        { required: true },
      ),
      Link: header('URL of the replacement (RFC 5829).', linkTo(deprecation.successor, 'successor-version'), {
        required: true,
      }),
    }),
  };
}

/** Returns the headers of an error response by name. */
export function errorHeaders({ status, retryAfterSeconds }: CatalogEntry): Json {
  return {
    ...common,
    ...(retryAfterSeconds !== undefined && { 'Retry-After': componentReference('RetryAfter') }),
    ...(status === 401 && {
      'WWW-Authenticate': header('Required authentication scheme (RFC 6750).', challenge, { required: true }),
    }),
  };
}

function header(description: string, example: unknown, { required, schema }: HeaderOptions = {}) {
  return { description, required, schema: schema ?? { type: 'string' }, example };
}

interface HeaderOptions {
  /** Whether each response has the header. @default - undefined, which means false */
  required?: true;
  /** @default - a string */
  schema?: Json;
}

function componentReference(key: keyof typeof headerComponents) {
  return { $ref: `#/components/headers/${key}` };
}

function linkTo(pathAndQuery: string, rel: string): string {
  return `<${BASE_URL}${pathAndQuery}>; rel="${rel}"`;
}
