import * as fc from 'fast-check';

// Generates request headers and the responses that docs/interface.md documents.

export type Pairs = [name: string, value: string][];

export interface IdempotencyKey {
  /** Values of the Idempotency-Key headers in the request. */
  values: string[];
  /** Idempotency key, or undefined if the headers are invalid. */
  key?: string;
  /** Header value for a retry, which denotes the same idempotency key. */
  retryValue?: string;
}

function characterOf(text: string): fc.Arbitrary<string> {
  return fc.constantFrom(...Array.from(text));
}

const goodKey: fc.Arbitrary<IdempotencyKey> = fc
  .tuple(
    fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([key, isBare, isBareAgain]) => {
    const quoted = `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
    const write = (bare: boolean) => (bare && !key.startsWith('"') ? key : quoted);
    return { values: [write(isBare)], key, retryValue: write(isBareAgain) };
  });
const badKey: fc.Arbitrary<IdempotencyKey> = fc
  .oneof(
    fc.constantFrom('', '"', '"a"b', '"a"b"', String.raw`"\a"`, '"a b"', 'é').map((value) => [value]),
    fc.constantFrom<string[][]>(['a', 'a'], ['"a"', 'b'], ['a', '']),
    fc.integer({ min: 256, max: 300 }).map((length) => ['x'.repeat(length)]),
  )
  .map((values) => ({ values }));

const token = fc.string({ unit: characterOf('abyzXY019!#$&^_.-'), minLength: 1, maxLength: 10 });
const jsonMediaType = fc.oneof(
  fc.constantFrom(undefined, '', 'application/json ; x="/+json"', 'application/json; x="; charset=utf-16"'),
  fc.constantFrom('APPLICATION/JSON; CHARSET=UTF-8', 'application/json;charset="utf8"; x=y'),
  token.map((subtype) => `application/${subtype}+json`),
);
const otherMediaType = fc.oneof(
  fc.constantFrom('*/*', 'application/+json', 'application/json, text/plain', 'application/x/y+json'),
  fc.tuple(token, token).map(([type, subtype]) => `${type}/${subtype}x`),
);

export const idempotencyKey = fc.oneof({ arbitrary: goodKey, weight: 4 }, { arbitrary: badKey, weight: 1 });

/** Headers that describe the body. If they do not describe JSON in UTF-8, the error message contains `mentions`. */
export interface BodyHeaders {
  pairs: Pairs;
  mentions?: string;
}

const goodBodyHeaders: fc.Arbitrary<BodyHeaders> = fc
  .tuple(jsonMediaType, fc.constantFrom(undefined, '', 'identity', 'Identity , identity'))
  .map(([type, coding]) => ({
    pairs: Object.entries({ 'Content-Type': type, 'Content-Encoding': coding }).flatMap(
      ([name, value]): Pairs => (value === undefined ? [] : [[name, value]]),
    ),
  }));
function badHeader(name: string, mentions: string, value: fc.Arbitrary<string>): fc.Arbitrary<BodyHeaders> {
  return value.map((one) => ({ pairs: [[name, one]], mentions }));
}
const otherCharset = token
  .filter((charset) => !/^utf-?8$/i.test(charset))
  .map((charset) => `application/json; charset=${charset}`);
const badBodyHeaders = fc.oneof(
  badHeader('Content-Type', 'application/json', otherMediaType),
  badHeader('Content-Type', 'charset', otherCharset),
  badHeader('Content-Encoding', 'Content-Encoding', fc.constantFrom('gzip', 'br', 'x-gzip', 'identity,gzip')),
);
export const bodyHeaders = fc.oneof(
  { arbitrary: goodBodyHeaders, weight: 9 },
  { arbitrary: badBodyHeaders, weight: 1 },
);

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
      fc.string({ unit: characterOf('az09!#$%&*+-.^_`|~'), maxLength: 8 }).map((name) => `X-${name}`),
      fc.string({ unit: characterOf('az09 \t"\\,;=<>%éÿ'), maxLength: 20 }),
    ),
  ),
  { maxLength: 4 },
);

/** Functions that change the case of header names, because the service must ignore the case. */
export const letterCase = fc.constantFrom<((name: string) => string)[]>(
  (name) => name,
  (name) => name.toLowerCase(),
  (name) => name.toUpperCase(),
);
