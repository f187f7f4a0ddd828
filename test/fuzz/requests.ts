import * as fc from 'fast-check';
import { anyBody, type Body, type ExpectedError } from './bodies.ts';
import { type BodyHeaders, bodyHeaders, idempotencyKey, type IdempotencyKey, type Pairs } from './headers.ts';
import { statuses } from './json.ts';

// Calls of the operations, with what docs/interface.md says about each.

export interface Create {
  operation: 'createPet';
  body: Body;
  bodyHeaders: BodyHeaders;
  idempotencyKey: IdempotencyKey | undefined;
  /** What follows a success with an Idempotency-Key. */
  followedBy: 'nothing' | 'retry' | 'another body';
}

export interface List {
  operation: 'listPets';
  query: Pairs;
  /** If omitted, the query may be accepted or not. */
  expected?: { limit: number; status?: string } | ExpectedError;
  /** Has the query follow the cursor of a page with this limit, also with one character replaced. */
  afterFirst?: { limit: number; replaced: number; by: string };
}

export interface Get {
  operation: 'getPet';
  /** One of the pets that exist, with some digits encoded; or a part of a path that is not an id of a pet. */
  pet: { index: number; isEncoded: boolean[] } | string;
}

export type Case = Create | List | Get;

const create: fc.Arbitrary<Create> = fc.record({
  operation: fc.constant('createPet'),
  body: anyBody,
  bodyHeaders,
  idempotencyKey: fc.option(idempotencyKey, { nil: undefined, freq: 2 }),
  followedBy: fc.constantFrom('nothing', 'retry', 'retry', 'another body'),
});

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\0', '%', '__proto__', '\uD800'),
);
/** Parameters that the service ignores. */
const otherParameters: fc.Arbitrary<Pairs> = fc.array(
  fc.tuple(
    anyText.filter((name) => !['limit', 'status', 'cursor'].includes(name)),
    anyText,
  ),
  { maxLength: 3 },
);
const goodLimit = fc.integer({ min: 1, max: 100 });
const status = fc.constantFrom(...statuses);

const goodList = fc
  .record({
    limit: fc.option(goodLimit, { nil: undefined }),
    status: fc.option(status, { nil: undefined }),
    others: otherParameters,
    afterFirst: fc.option(
      fc.record({
        limit: fc.integer({ min: 1, max: 5 }),
        replaced: fc.nat(),
        by: fc.constantFrom('', 'A', 'z', '0', '_', '=', 'MA'),
      }),
      { nil: undefined },
    ),
  })
  .chain(({ limit, status: wanted, others, afterFirst }) => {
    const query: Pairs = [...others];
    if (limit !== undefined) query.push(['limit', limit.toString()]);
    if (wanted !== undefined) query.push(['status', wanted]);
    return fc.shuffledSubarray(query, { minLength: query.length }).map((shuffled): List => ({
      operation: 'listPets',
      query: shuffled,
      expected: { limit: limit ?? 20, ...(wanted !== undefined && { status: wanted }) },
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
const wrongList = fc
  .tuple(
    fc.oneof(
      ...Object.entries(wrongValues).map(([name, value]) => value.map((wrong): Pairs => [[name, wrong]])),
      fc
        .tuple(goodLimit, goodLimit)
        .map((limits): Pairs => limits.map((limit) => ['limit', limit.toString()])),
      fc.tuple(status, status).map((both): Pairs => both.map((one) => ['status', one])),
    ),
    otherParameters,
  )
  .map(([wrong, others]): List => {
    const expected = { code: 'invalid_request', naming: wrong[0]![0] };
    return { operation: 'listPets', query: [...others, ...wrong], expected };
  });
const anyList = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom('limit', 'status', 'cursor', 'Limit'), anyText), anyText), {
    maxLength: 6,
  })
  .map((query): List => ({ operation: 'listPets', query }));

/** A part of a path with percent-encoding right and wrong, and without characters that would end it. */
export const segment = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map(encodeURIComponent),
  fc
    .array(
      fc.constantFrom('%', '%2', '%zz', '%ff', '%C3', '%00', '%2F', '%2e', '~', '1', '-', '+', ';', '{'),
      { minLength: 1, maxLength: 6 },
    )
    .map((parts) => parts.join('')),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom('..', '.', '0', '-0', '1e3', '0x1', 'null', '__proto__', '9'.repeat(2_000)),
);

const get: fc.Arbitrary<Get> = fc.record({
  operation: fc.constant('getPet'),
  pet: fc.oneof(
    segment,
    fc.record({ index: fc.nat(), isEncoded: fc.array(fc.boolean(), { maxLength: 16 }) }),
  ),
});

export const anyCase: fc.Arbitrary<Case> = fc.oneof(
  { arbitrary: create, weight: 10 },
  { arbitrary: goodList, weight: 2 },
  { arbitrary: wrongList, weight: 1 },
  { arbitrary: anyList, weight: 1 },
  { arbitrary: get, weight: 4 },
);
