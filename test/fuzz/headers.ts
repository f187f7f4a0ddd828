import * as fc from 'fast-check';

// Generates request headers that docs/interface.md allows, and invalid values of `Idempotency-Key`.

export type Pairs = [name: string, value: string][];

export interface IdempotencyKey {
  /** Values of the Idempotency-Key headers in the request. */
  values: string[];
  /** Idempotency key, or undefined if the headers are invalid. */
  key?: string;
  /** Header value for a retry. It contains the same key, always in quotes. */
  retryValue?: string;
}

const printable = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCharCode(0x20 + index));
const goodKey: fc.Arbitrary<IdempotencyKey> = fc
  .tuple(fc.string({ unit: fc.constantFrom(...printable), minLength: 1, maxLength: 255 }), fc.boolean())
  .map(([key, isBare]) => {
    const quoted = `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
    return { values: [isBare && !/^"| /.test(key) ? key : quoted], key, retryValue: quoted };
  });
const badKey: fc.Arbitrary<IdempotencyKey> = fc
  .oneof(
    fc.constantFrom('', '"', '"a"b', '"a"b"', String.raw`"\a"`, 'a b', 'é').map((value) => [value]),
    fc.constantFrom<string[][]>(['a', 'a'], ['"a"', 'b'], ['a', '']),
    fc.integer({ min: 256, max: 300 }).map((length) => ['x'.repeat(length)]),
  )
  .map((values) => ({ values }));

export const idempotencyKey = fc.oneof({ arbitrary: goodKey, weight: 4 }, { arbitrary: badKey, weight: 1 });

/** Headers that must not change the response. */
export const otherHeaders: fc.Arbitrary<Pairs> = fc.array(
  fc.oneof(
    fc.constantFrom<Pairs>(
      ['Accept-Encoding', 'gzip, br'],
      ['X-HTTP-Method-Override', 'DELETE'],
      ['X-Amzn-RequestId', 'x'],
      ['__proto__', 'x'],
    ),
    fc.tuple(
      fc
        .string({ unit: fc.constantFrom(...Array.from('az09!#$%&*+-.^_`|~')), maxLength: 8 })
        .map((name) => `X-${name}`),
      fc.string({ unit: fc.constantFrom(...Array.from('az09 \t"\\,;=<>%éÿ')), maxLength: 20 }),
    ),
  ),
  { maxLength: 4 },
);
