import * as fc from 'fast-check';
import { anyBody, type Body, type ExpectedError } from './bodies.ts';
import { type BodyHeaders, bodyHeaders, idempotencyKey, type IdempotencyKey, type Pairs } from './headers.ts';
import { statuses } from './json.ts';

// Generates requests for the operations and the responses that docs/interface.md documents.

export interface Create {
  operation: 'createPet';
  body: Body;
  bodyHeaders: BodyHeaders;
  idempotencyKey: IdempotencyKey | undefined;
  /** Second request, which is sent with the same idempotency key if the first request succeeds. */
  followUp: 'nothing' | 'retry' | 'another body';
}

export interface List {
  operation: 'listPets';
  query: Pairs;
  /** Expected result, or undefined if the service can either accept or reject the query. */
  expected?: { limit: number; status?: string } | ExpectedError;
  /** If set, the cursor of a first page is sent unchanged, with one character replaced, and for a different list. */
  afterFirst?: { limit: number; replaced: number; by: string };
}

export interface Get {
  operation: 'getPet';
  /** Existing pet whose id has percent-encoded digits, or a path segment that is not a pet's id. */
  pet: { index: number; isEncoded: boolean[] } | string;
}

export type Case = Create | List | Get;

const create: fc.Arbitrary<Create> = fc.record({
  operation: fc.constant('createPet'),
  body: anyBody,
  bodyHeaders,
  idempotencyKey: fc.option(idempotencyKey, { nil: undefined, freq: 2 }),
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

const firstPage = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  replaced: fc.nat(),
  by: fc.constantFrom('', 'A', 'z', '0', '_', '=', 'MA'),
});
const goodList = fc
  .record({
    limit: fc.option(goodLimit, { nil: undefined }),
    status: fc.option(status, { nil: undefined }),
    others: otherParameters,
    afterFirst: fc.option(firstPage, { nil: undefined }),
  })
  .chain(({ limit, status: value, others, afterFirst }) => {
    const query: Pairs = [...others];
    if (limit !== undefined) query.push(['limit', limit]);
    if (value !== undefined) query.push(['status', value]);
    return fc.shuffledSubarray(query, { minLength: query.length }).map((shuffled): List => ({
      operation: 'listPets',
      query: shuffled,
      expected: { limit: Number(limit ?? 20), ...(value !== undefined && { status: value }) },
      ...(afterFirst !== undefined && { afterFirst }),
    }));
  });

const wrongValues: Record<string, fc.Arbitrary<string>> = {
  limit: fc.oneof(
    anyText.filter((text) => !/^\d+$/.test(text)),
    fc.integer({ min: 101 }).map(String),
    fc.integer({ max: 0 }).map(String),
  ),
  status: anyText.filter((text) => !statuses.includes(text)),
  cursor: fc.oneof(
    fc.constantFrom('', 'MA', 'NQ=='),
    anyText.map((text) => `${text}!`),
  ),
};
function repeated(name: string, value: fc.Arbitrary<string>): fc.Arbitrary<Pairs> {
  return fc.tuple(value, value).map((values) => values.map((one) => [name, one]));
}
const wrongList = fc
  .tuple(
    fc.oneof(
      ...Object.entries(wrongValues).map(([name, value]) => value.map((wrong): Pairs => [[name, wrong]])),
      repeated('limit', goodLimit),
      repeated('status', status),
    ),
    otherParameters,
  )
  .map(([wrong, others]): List => {
    const expected = { code: 'invalid_request', mentions: wrong[0]![0] };
    return { operation: 'listPets', query: [...others, ...wrong], expected };
  });
const anyName = fc.oneof(fc.constantFrom('limit', 'status', 'cursor', 'Limit'), anyText);
const anyList = fc
  .array(fc.tuple(anyName, anyText), { maxLength: 6 })
  .map((query): List => ({ operation: 'listPets', query }));

const segmentPart = fc.constantFrom(...'% %2 %zz %ff %C3 %00 %2F %2e ~ 1 - + ; {'.split(' '));
/** Path segment that can have invalid percent-encoding, but contains no delimiter such as `/` or `?`. */
export const segment = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map(encodeURIComponent),
  fc.array(segmentPart, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom('..', '.', '0', '-0', '1e3', '0x1', 'null', '__proto__', '9'.repeat(2_000)),
);

const existingPet = fc.record({ index: fc.nat(), isEncoded: fc.array(fc.boolean(), { maxLength: 16 }) });
const get: fc.Arbitrary<Get> = fc.record({
  operation: fc.constant('getPet'),
  pet: fc.oneof(segment, existingPet),
});

export const anyCase: fc.Arbitrary<Case> = fc.oneof(
  { arbitrary: create, weight: 10 },
  { arbitrary: goodList, weight: 2 },
  { arbitrary: wrongList, weight: 1 },
  { arbitrary: anyList, weight: 1 },
  { arbitrary: get, weight: 4 },
);
