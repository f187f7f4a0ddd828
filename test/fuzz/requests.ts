import * as fc from 'fast-check';
import { keyPrefix } from '../../shared/contract/authorization.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import type { DocumentedOperation } from '../support/openapi-document.ts';
import { collection } from '../support/sample.ts';
import { anyBody, type ExpectedError } from './bodies.ts';
import { fieldsOf, filters, listParameters, otherOperations, valuesOf } from './documented.ts';
import { idempotencyKey, type Pairs } from './headers.ts';
import type { Generated } from './json.ts';

// Generates requests and their expected responses as documented in docs/interface.md.

export type Create = Generated<typeof create>;
const create = fc.record({
  operation: fc.constant('create'),
  body: anyBody,
  idempotencyKey: fc.option(idempotencyKey, { nil: undefined, freq: 2 }),
  // A second request, which is sent with the same idempotency key if the first request succeeds.
  followUp: fc.constantFrom('nothing', 'retry', 'retry', 'another body'),
});

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\0', '%', '__proto__', '\uD800'),
);
const otherName = anyText.filter((text) => !listParameters.some(({ name }) => name === text));
/** Unknown parameters, which the service must ignore. */
const otherParameters: fc.Arbitrary<Pairs> = fc.array(fc.tuple(otherName, anyText), { maxLength: 3 });
const NONE = { requiredKeys: [] };
const goodLimit = fc.integer({ min: PAGE.minimum, max: PAGE.maximum }).map(String);

export interface List {
  operation: 'list';
  /** Query parameters. A number is an index into the field's values in the stored resources. */
  query: [name: string, value: string | number][];
  expected: { limit: number } | ExpectedError;
  /**
   * First page with up to `limit` items. Further requests send the cursor of the first page: unchanged, with `by` in
   * place of the character that `replaced` selects, and with other filters.
   */
  afterFirst?: { limit: number; replaced: number; by: string } | undefined;
}

const firstPage = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  replaced: fc.nat(),
  by: fc.constantFrom('', 'A', 'z', '0', '_', '=', 'MA'),
});
/** Values of filters. If no stored resource has a value, openapi.json determines whether the value is valid. */
const filterValues = Object.entries(valuesOf(filters)).map(
  ([name, value]) => [name, fc.oneof(fc.nat(), value.map(String), anyText)] as const,
);
const goodList = fc
  .tuple(
    fc.record({ limit: goodLimit, ...Object.fromEntries(filterValues) }, NONE),
    otherParameters,
    fc.option(firstPage, { nil: undefined }),
  )
  .chain(([known, others, afterFirst]) => {
    const query: List['query'] = [...others, ...Object.entries(known)];
    const expected = { limit: Number(known['limit'] ?? PAGE.default) };
    return fc
      .shuffledSubarray(query, { minLength: query.length })
      .map((shuffled): List => ({ operation: 'list', query: shuffled, expected, afterFirst }));
  });

const wrongLimit = fc.oneof(
  anyText.filter((text) => !/^\d+$/.test(text)),
  fc.integer({ min: PAGE.maximum + 1 }).map(String),
  fc.integer({ max: PAGE.minimum - 1 }).map(String),
);
const wrongCursor = anyText.map((text) => (text === '' ? 'NQ==' : `${text}!`));
const wrongParameters: fc.Arbitrary<Pairs> = fc.oneof(
  wrongLimit.map((text): Pairs => [['limit', text]]),
  wrongCursor.map((text): Pairs => [['cursor', text]]),
  fc.constantFrom(
    ...listParameters.map(({ name, example }): Pairs => [0, 1].map(() => [name, `${example}`])),
  ),
);
const wrongList = fc.tuple(wrongParameters, otherParameters).map(([wrong, others]): List => {
  const expected = { code: 'invalid_request', mentions: wrong[0]![0] };
  return { operation: 'list', query: [...others, ...wrong], expected };
});

const segmentPart = fc.constantFrom(...'% %2 %zz %ff %C3 %00 %2F %2e ~ 1 - + ; {'.split(' '));
/** Path segment that can have invalid percent-encoding, but contains no delimiter such as `/` or `?`. */
const segment = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map(encodeURIComponent),
  fc.array(segmentPart, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom('..', '.', '0', '-0', '1e3', '0x1', 'null', '__proto__', '9'.repeat(2_000)),
);

/** Index of a stored resource, and whether each digit of its id is percent-encoded. */
const stored = fc.record({ index: fc.nat(), isEncoded: fc.array(fc.boolean(), { maxLength: 16 }) });
export type Get = Generated<typeof get>;
const get = fc.record({ operation: fc.constant('get'), resource: fc.oneof(segment, stored) });

/** Request to an operation in `otherOperations`. The requested resource does not exist. */
export type Other = Generated<ReturnType<typeof otherRequest>>;
function otherRequest(operation: DocumentedOperation) {
  const { parameters, body, example } = operation;
  const ids = new Set(Object.values(example.pathParameters));
  const [path = ''] = example.target.split('?');
  const segments = path.split('/').map((part) => (ids.has(part) ? segment : fc.constant(part)));
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const [anyQuery, anyContent] = [query, fieldsOf(operation)].map((parts) =>
    fc.record(valuesOf(parts), NONE),
  );
  return fc.tuple(fc.tuple(...segments), anyQuery!, anyContent!).map(([parts, known, content]) => ({
    operation: 'other' as const,
    method: example.method,
    path: parts.join('/'),
    query: Object.entries(known).map(([name, value]): Pairs[0] => [name, `${value}`]),
    headers: Object.entries(example.headers),
    body: body && stringifyJson(content),
  }));
}

export type Case = Create | List | Get | Other;
export const anyCase: fc.Arbitrary<Case> = fc.oneof(
  { arbitrary: create, weight: 5 },
  { arbitrary: goodList, weight: 2 },
  { arbitrary: wrongList, weight: 1 },
  { arbitrary: get, weight: 2 },
  ...otherOperations.map((operation) => ({ arbitrary: otherRequest(operation), weight: 2 })),
);

const knownPath = fc.oneof(
  fc.constant(collection),
  segment.filter((part) => part.length < 100).map((part) => `${collection}/${part}`),
);
const otherPath = fc.oneof(
  fc.constantFrom('/', '/v1', `${collection}/1/2`, `/${collection}`),
  fc.constantFrom('/v2/', '/v1//', '/%76%31/').map((start) => collection.replace('/v1/', start)),
  fc.array(segment, { maxLength: 4 }).map((parts) => `/x${parts.join('/')}`.slice(0, 4_000)),
);
const wrongKey = fc.oneof(
  fc.constantFrom('', '{key}', 'Bearer {key}x', 'Bearer {key}, Bearer {key}'),
  fc
    .string({ unit: fc.constantFrom('a', 'Z', '0', '_', ' ', '.', '\t', '\xe9'), maxLength: 50 })
    .map((text) => `Bearer ${keyPrefix('staging')}${text}`),
);
const anyKey = fc.constantFrom('', 'Bearer {key}');
const otherMethod = fc.constantFrom('HEAD', 'OPTIONS', 'TRACE', 'PROPFIND');

/**
 * Requests that reach no operation because the API key, the URL or the method is invalid, and their expected statuses.
 * In the Authorization header, `{key}` is a placeholder for a valid API key.
 */
export const rejected = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constant(401), fc.constant('GET'), knownPath, wrongKey),
      fc.tuple(fc.constant(404), fc.oneof(fc.constantFrom('GET', 'POST'), otherMethod), otherPath, anyKey),
      fc.tuple(fc.constant(405), otherMethod, knownPath, anyKey),
    ),
    fc.constantFrom('', '?', '?limit=5', '?%zz=%ff&&=%00&limit'),
  )
  .map(([[expected, method, path, key], query]) => {
    return { expected, method, target: `${path}${query}`, authorization: key };
  });
