import { challenge } from '../../../shared/contract/authorization.ts';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { exampleOf, type Json } from './schema-objects.ts';

/** Placeholder for the domain of the API and of the published reference page. */
export const PRODUCTION_DOMAIN = 'petstore.example.com';
const LIST_URL = `https://${PRODUCTION_DOMAIN}${operations.listPets.path}`;
const nextPage = new URLSearchParams(exampleOf(operations.listPets.request.entries.query)).toString();
const [{ id }] = exampleOf(operations.listPets.success.schema);

/** Response headers by key. The keys are also the names of the document's header components. */
const headers: Record<string, ReturnType<typeof header>> = {
  RequestId: header(
    'x-amzn-RequestId',
    'Id of the request. Include it when you contact the operator.',
    '3c436e3c-4f1a-4ec3-9e92-dd89cd42a1b1',
  ),
  CacheControl: header('Cache-Control', 'Caches must not store the response.', 'no-store', {
    enum: ['no-store'],
  }),
  Location: header('Location', 'URL of the new pet (RFC 9110).', `${LIST_URL}/${id}`, { format: 'uri' }),
  NextPage: link('URL of the next page (RFC 8288), if there is one.', `${LIST_URL}?${nextPage}`, 'next'),
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
  Successor: link('URL of the replacement (RFC 5829).', LIST_URL, 'successor-version'),
  Allow: header('Allow', 'Methods that the URL supports (RFC 9110).', 'GET, POST'),
  Challenge: header('WWW-Authenticate', 'Required authentication scheme (RFC 6750).', challenge, {
    enum: [challenge],
  }),
  RetryAfter: header('Retry-After', 'Seconds to wait before a retry (RFC 9110).', '1', {
    pattern: '^[0-9]+$',
  }),
};

/** Returns a header whose value is a string. `rules` are keywords of the header's schema. */
function header(name: string, description: string, example: string, rules?: object) {
  return { name, content: { description, schema: { type: 'string', ...rules }, example, required: true } };
}

function link(description: string, url: string, rel: string) {
  return header('Link', description, `<${url}>; rel="${rel}"`, { pattern: `<[^>]+>; rel="${rel}"` });
}

/** Returns the headers of a response by name: the headers that all responses have, and the headers in `presence`. */
export function headersObject(presence: Record<string, 'always' | 'sometimes'>): Json {
  const all = { RequestId: 'always', CacheControl: 'always', ...presence } as const;
  const entries = Object.entries(all).map(([key, when]) => [headers[key]!.name, headerObject(key, when)]);
  return Object.fromEntries(entries);
}

function headerObject(key: string, when: 'always' | 'sometimes'): Json {
  const { content } = headers[key]!;
  // An optional header cannot be a reference, because all header components are required headers.
  if (when === 'sometimes') return { ...content, required: undefined };
  // `Allow` is not a component, because no operation returns this header.
  return key === 'Allow' ? content : { $ref: `#/components/headers/${key}` };
}

/** Returns the headers to which `parts` of the document refer. A component without references is a linter error. */
export function headerComponents(parts: Json): Json {
  const text = stringifyJson(parts);
  const used = Object.entries(headers).filter(([key]) => text.includes(`"#/components/headers/${key}"`));
  return Object.fromEntries(used.map(([key, { content }]) => [key, content]));
}
