import * as fc from 'fast-check';
import { apiGatewayEvent } from '../support/api-gateway-event.ts';
import { anyBody, type ExpectedError } from './bodies.ts';
import { bodyHeaders, idempotencyKey, type Pairs } from './headers.ts';
import { type Generated, statuses } from './json.ts';

// Generates requests for the operations and the responses that docs/interface.md documents.

export type Create = Generated<typeof create>;
const create = fc.record({
  operation: fc.constant('createPet'),
  body: anyBody,
  bodyHeaders,
  idempotencyKey: fc.option(idempotencyKey, { nil: undefined, freq: 2 }),
  // This second request is sent with the same idempotency key if the first request succeeds.
  followUp: fc.constantFrom('nothing', 'retry', 'retry', 'another body'),
});

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\0', '%', '__proto__', '\uD800'),
);
const otherName = anyText.filter((name) => !['limit', 'status', 'cursor'].includes(name));
/** Unknown parameters, which the service must ignore. */
const otherParameters: fc.Arbitrary<Pairs> = fc.array(fc.tuple(otherName, anyText), { maxLength: 3 });
const goodLimit = fc.integer({ min: 1, max: 100 }).map(String);
const status = fc.constantFrom(...statuses);

export interface List {
  operation: 'listPets';
  query: Pairs;
  expected: { limit: number; status?: string } | ExpectedError;
  /** If set, the cursor of a first page is sent unchanged, with one character replaced, and for a different list. */
  afterFirst?: { limit: number; replaced: number; by: string } | undefined;
}

const firstPage = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  replaced: fc.nat(),
  by: fc.constantFrom('', 'A', 'z', '0', '_', '=', 'MA'),
});
const goodList = fc
  .tuple(
    fc.record({ limit: goodLimit, status }, { requiredKeys: [] }),
    otherParameters,
    fc.option(firstPage, { nil: undefined }),
  )
  .chain(([known, others, afterFirst]) => {
    const query: Pairs = [...others, ...Object.entries(known)];
    const expected = { ...known, limit: Number(known.limit ?? 20) };
    return fc
      .shuffledSubarray(query, { minLength: query.length })
      .map((shuffled): List => ({ operation: 'listPets', query: shuffled, expected, afterFirst }));
  });

function one(name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Pairs> {
  return value.map((text) => [[name, text]]);
}
const wrongParameters = fc.oneof(
  one(
    'limit',
    anyText.filter((text) => !/^\d+$/.test(text)),
  ),
  one('limit', fc.oneof(fc.integer({ min: 101 }), fc.integer({ max: 0 })).map(String)),
  one(
    'status',
    anyText.filter((text) => !statuses.includes(text)),
  ),
  one(
    'cursor',
    fc.oneof(
      fc.constantFrom('', 'MA', 'NQ=='),
      anyText.map((text) => `${text}!`),
    ),
  ),
  fc.tuple(one('limit', goodLimit), one('limit', goodLimit)).map((pairs) => pairs.flat()),
  fc.tuple(one('status', status), one('status', status)).map((pairs) => pairs.flat()),
);
const wrongList = fc.tuple(wrongParameters, otherParameters).map(([wrong, others]): List => {
  const expected = { code: 'invalid_request', mentions: wrong[0]![0] };
  return { operation: 'listPets', query: [...others, ...wrong], expected };
});

const segmentPart = fc.constantFrom(...'% %2 %zz %ff %C3 %00 %2F %2e ~ 1 - + ; {'.split(' '));
/** Path segment that can have invalid percent-encoding, but contains no delimiter such as `/` or `?`. */
const segment = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map(encodeURIComponent),
  fc.array(segmentPart, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom('..', '.', '0', '-0', '1e3', '0x1', 'null', '__proto__', '9'.repeat(2_000)),
);

/** Existing pet whose id has percent-encoded digits. */
const existingPet = fc.record({ index: fc.nat(), isEncoded: fc.array(fc.boolean(), { maxLength: 16 }) });
export type Get = Generated<typeof get>;
const get = fc.record({ operation: fc.constant('getPet'), pet: fc.oneof(segment, existingPet) });

export type Case = Create | List | Get;
export const anyCase: fc.Arbitrary<Case> = fc.oneof(
  { arbitrary: create, weight: 5 },
  { arbitrary: goodList, weight: 1 },
  { arbitrary: wrongList, weight: 1 },
  { arbitrary: get, weight: 2 },
);

const petPath = fc.oneof(
  fc.constant('/v1/pets'),
  segment.filter((part) => part.length < 100).map((part) => `/v1/pets/${part}`),
);
const otherPath = fc.oneof(
  fc.constantFrom('/', '/v1', '/v2/pets', '/v1/pets/1/2', '/v1//pets', '//v1/pets', '/%76%31/pets'),
  fc.array(segment, { maxLength: 4 }).map((parts) => `/x${parts.join('/')}`.slice(0, 4_000)),
);
const wrongKey = fc.oneof(
  fc.constantFrom('', '{key}', 'Bearer {key}x', 'Bearer {key}, Bearer {key}'),
  fc
    .string({ unit: fc.constantFrom('a', 'Z', '0', '_', ' ', '.', '\t', '\xe9'), maxLength: 50 })
    .map((text) => `Bearer pets_staging_${text}`),
);
const anyKey = fc.constantFrom('', 'Bearer {key}');
const otherMethod = fc.constantFrom('HEAD', 'OPTIONS', 'TRACE', 'PROPFIND');

/**
 * Requests that reach no operation, because the API key, the URL or the method is invalid, with the expected status. In
 * the Authorization header, `{key}` is a placeholder for a valid API key.
 */
export const rejected = fc
  .tuple(
    fc.oneof(
      fc.tuple(fc.constant(401), fc.constant('GET'), petPath, wrongKey),
      fc.tuple(fc.constant(404), fc.oneof(fc.constantFrom('GET', 'POST'), otherMethod), otherPath, anyKey),
      fc.tuple(fc.constant(405), otherMethod, petPath, anyKey),
    ),
    fc.constantFrom('', '?', '?limit=5', '?%zz=%ff&&=%00&limit'),
  )
  .map(([[expected, method, path, key], query]) => {
    return { expected, method, target: `${path}${query}`, authorization: key };
  });

export const anyFunction = fc.constantFrom('CreatePet', 'ListPets', 'GetPet');

const eventText = fc.oneof(
  fc.string({ unit: fc.nat(0xff_ff).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom('', '__proto__', '5', 'limit', 'status', 'cursor', 'petId'),
  fc.constantFrom('Content-Type', 'idempotency-key'),
);
const anyMap = fc.option(fc.dictionary(eventText, eventText), { freq: 4 });
const anyMultiMap = fc.option(fc.dictionary(eventText, fc.array(eventText, { maxLength: 3 })), { freq: 4 });

/** Event whose fields have valid types but can contradict each other. */
export const anyEvent = fc
  .record({
    headers: anyMap,
    multiValueHeaders: anyMultiMap,
    queryStringParameters: anyMap,
    multiValueQueryStringParameters: anyMultiMap,
    pathParameters: anyMap,
    body: fc.option(
      fc.oneof(
        eventText,
        anyBody.map(({ bytes }) => bytes.toString()),
      ),
      { freq: 4 },
    ),
    isBase64Encoded: fc.boolean(),
    requestContext: fc.constant({ authorizer: { keyId: 'key_2' } }),
  })
  .map((parts) => apiGatewayEvent(parts as Parameters<typeof apiGatewayEvent>[0]));
