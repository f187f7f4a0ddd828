import * as fc from 'fast-check';
import type { Get, List, Pairs } from './cases.ts';

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\0', '%', '__proto__', '\uD800'),
);
/** Parameters that the interface does not know, and ignores. */
const otherParameters: fc.Arbitrary<Pairs> = fc.array(
  fc.tuple(
    anyText.filter((name) => !['limit', 'status', 'cursor'].includes(name)),
    anyText,
  ),
  { maxLength: 3 },
);
const goodLimit = fc.integer({ min: 1, max: 100 });
const statuses = fc.constantFrom('available', 'pending', 'sold');

const goodList: fc.Arbitrary<List> = fc
  .tuple(
    fc.option(goodLimit, { nil: undefined }),
    fc.option(statuses, { nil: undefined }),
    otherParameters,
    fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  )
  .chain(([limit, status, others, afterFirst]) => {
    const parameters: Pairs = [...others];
    if (limit !== undefined) parameters.push(['limit', limit.toString()]);
    if (status !== undefined) parameters.push(['status', status]);
    return fc.shuffledSubarray(parameters, { minLength: parameters.length }).map((query): List => ({
      operation: 'listPets',
      query,
      expected: { limit: limit ?? 20, ...(status !== undefined && { status }) },
      ...(afterFirst !== undefined && { afterFirst }),
    }));
  });

const wrongParameters: fc.Arbitrary<Pairs> = fc.oneof(
  fc
    .oneof(
      fc.constantFrom('', '0', '101', '-1', '5.5', 'ten', '9'.repeat(30), 'NaN', 'null', '[5]', '５'),
      fc.integer({ min: 101 }).map(String),
      fc.integer({ max: 0 }).map(String),
    )
    .map((limit): Pairs => [['limit', limit]]),
  fc
    .oneof(anyText, fc.constantFrom('Sold', 'sold,pending', ' sold', 'toString'))
    .filter((status) => !['available', 'pending', 'sold'].includes(status))
    .map((status): Pairs => [['status', status]]),
  fc
    .oneof(
      fc.constantFrom('', '!', 'MA', 'LTU', 'NQ==', 'OTk5OTk5OTk5OTk5OTk5OTk5OTk5'),
      anyText.map((text) => `${text}!`),
    )
    .map((cursor): Pairs => [['cursor', cursor]]),
  fc.tuple(goodLimit, goodLimit).map((limits): Pairs => limits.map((limit) => ['limit', limit.toString()])),
  fc.tuple(statuses, statuses).map((both): Pairs => both.map((status) => ['status', status])),
);
const wrongList: fc.Arbitrary<List> = fc.tuple(wrongParameters, otherParameters).map(([wrong, others]) => ({
  operation: 'listPets',
  query: [...others, ...wrong],
  expected: { code: 'invalid_request', naming: wrong[0]![0] },
}));
const anyList: fc.Arbitrary<List> = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom('limit', 'status', 'cursor', 'Limit'), anyText),
      fc.oneof(anyText, fc.constantFrom('05', '+5', '5e1', '5 ', 'MQ', 'sold')),
    ),
    { maxLength: 6 },
  )
  .map((query) => ({ operation: 'listPets', query }));

export const list = fc.oneof(
  { arbitrary: goodList, weight: 3 },
  { arbitrary: wrongList, weight: 2 },
  { arbitrary: anyList, weight: 1 },
);

/** A part of a path as a client may write it: percent-encoding right and wrong, and no character that would end it. */
export const segment = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }).map(encodeURIComponent),
  fc.string({
    unit: fc.constantFrom(
      '%',
      '%2',
      '%zz',
      '%ff',
      '%C3',
      '%A9',
      '%00',
      '%2F',
      '%2e',
      '~',
      '1',
      '-',
      '+',
      ';',
      '{',
      '}',
    ),
    minLength: 1,
    maxLength: 6,
  }),
  fc
    .oneof(fc.bigInt(), fc.bigInt({ min: -5n, max: 5n }), fc.bigInt({ min: 2n ** 60n, max: 2n ** 70n }))
    .map(String),
  fc.constantFrom(
    '..',
    '.',
    '%2e%2e',
    '0',
    '-0',
    '1e3',
    '0x1',
    encodeURIComponent('１'),
    'null',
    '__proto__',
    '%',
    '9'.repeat(2_000),
  ),
);

export const get: fc.Arbitrary<Get> = fc.record({
  operation: fc.constant('getPet'),
  pet: fc.oneof(
    segment,
    fc.record({ index: fc.nat(), isEncoded: fc.array(fc.boolean(), { maxLength: 16 }) }),
  ),
});
