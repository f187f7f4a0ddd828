import { challenge } from '../../../shared/contract/authorization.ts';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { EXAMPLE_IDS } from '../../../shared/contract/fields.ts';
import { methodsByPath } from '../../../shared/contract/gateway-responses.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { compactName } from '../../../shared/names.ts';
import { exampleOf, type Json } from './schema-objects.ts';

/** Placeholder for the domain of the API and of the published reference page. */
export const PRODUCTION_DOMAIN = `${compactName}.example.com`;
const [firstMethods = []] = methodsByPath().values();
const BASE_URL = `https://${PRODUCTION_DOMAIN}`;

/** The properties of an operation that determine the examples of its headers. */
export type HeaderContext = Partial<Pick<Operation, 'path' | 'request' | 'deprecation'>>;

/** Response headers that are the same for all operations, by key. The keys also name the document's header components. */
const components: Record<string, ReturnType<typeof header>> = {
  RequestId: header(
    'x-amzn-RequestId',
    'Id of the request. Include it when you contact the operator.',
    '3c436e3c-4f1a-4ec3-9e92-dd89cd42a1b1',
  ),
  CacheControl: header('Cache-Control', 'Caches must not store the response.', 'no-store', {
    enum: ['no-store'],
  }),
  Challenge: header('WWW-Authenticate', 'Required authentication scheme (RFC 6750).', challenge, {
    enum: [challenge],
  }),
  RetryAfter: header('Retry-After', 'Seconds to wait before a retry (RFC 9110).', '1', {
    pattern: '^[0-9]+$',
  }),
};

/** Response headers whose example depends on the operation, by key. */
const others: Record<string, (context: HeaderContext) => ReturnType<typeof header>> = {
  Allow: () => header('Allow', 'Methods that the URL supports (RFC 9110).', firstMethods.join(', ')),
  Location: ({ path }) =>
    header('Location', 'URL of the created resource (RFC 9110).', `${BASE_URL}${path}/${EXAMPLE_IDS[0]}`, {
      format: 'uri',
    }),
  NextPage: ({ path, request }) => {
    const query = new URLSearchParams(exampleOf(request!.entries.query)).toString();
    return link('URL of the next page (RFC 8288), if there is one.', `${BASE_URL}${path}?${query}`, 'next');
  },
  Deprecation: ({ deprecation }) =>
    header(
      'Deprecation',
      'Time of the deprecation, in seconds since 1970 (RFC 9745).',
      `@${deprecation!.since.getTime() / 1_000}`,
      { pattern: '^@[0-9]+$' },
    ),
  Sunset: ({ deprecation }) =>
    header(
      'Sunset',
      'Time after which the operation will be removed (RFC 8594).',
      deprecation!.sunset.toUTCString(),
    ),
  Successor: ({ deprecation }) =>
    link('URL of the replacement (RFC 5829).', `${BASE_URL}${deprecation!.successor}`, 'successor-version'),
};

/** Returns a header whose value is a string. `rules` are keywords of the header's schema. */
function header(name: string, description: string, example: string, rules?: object) {
  return { name, content: { description, schema: { type: 'string', ...rules }, example, required: true } };
}

function link(description: string, url: string, rel: string) {
  return header('Link', description, `<${url}>; rel="${rel}"`, { pattern: `<[^>]+>; rel="${rel}"` });
}

/** Returns the headers of a response by name: the headers that all responses have, and the headers in `presence`. */
export function headersObject(
  presence: Record<string, 'always' | 'sometimes'>,
  context: HeaderContext = {},
): Json {
  const all = { RequestId: 'always', CacheControl: 'always', ...presence } as const;
  const entries = Object.entries(all).map(([key, when]) => {
    const { name, content } = components[key] ?? others[key]!(context);
    const isComponent = key in components && when === 'always';
    // An optional header cannot be a reference, because all header components are required headers.
    const required = when === 'always' ? content : { ...content, required: undefined };
    return [name, isComponent ? { $ref: `#/components/headers/${key}` } : required];
  });
  return Object.fromEntries(entries);
}

/** Returns the headers to which `parts` of the document refer. A component without references is a linter error. */
export function headerComponents(parts: Json): Json {
  const text = stringifyJson(parts);
  const used = Object.entries(components).filter(([key]) => text.includes(`"#/components/headers/${key}"`));
  return Object.fromEntries(used.map(([key, { content }]) => [key, content]));
}
