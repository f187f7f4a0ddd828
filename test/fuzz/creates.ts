import * as fc from 'fast-check';
import { anyKindOfBody } from './bodies.ts';
import { characterOf, type Create, type IdempotencyKey } from './cases.ts';

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
});

function quoted(key: string): string {
  return `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

const goodIdempotencyKey: fc.Arbitrary<IdempotencyKey> = fc
  .tuple(
    fc.oneof({ arbitrary: visible, weight: 4 }, { arbitrary: fc.constantFrom('a', '\\', '"'), weight: 1 }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([key, isBare, isBareAgain]) => {
    const write = (bare: boolean) => (bare && !key.startsWith('"') ? key : quoted(key));
    return { values: [write(isBare)], key, again: write(isBareAgain) };
  });
const badIdempotencyKey: fc.Arbitrary<IdempotencyKey> = fc
  .oneof<fc.Arbitrary<string[]>[]>(
    fc.constantFrom(
      [''],
      ['""'],
      ['"'],
      ['"a'],
      ['"a"b'],
      ['"a"b"'],
      [String.raw`"\a"`],
      ['a b'],
      ['"a b"'],
      ['é'],
    ),
    fc.constantFrom(['a', 'a'], ['a', 'b'], ['"a"', 'a'], ['a', '']),
    fc.integer({ min: 256, max: 300 }).map((length) => ['x'.repeat(length)]),
  )
  .map((values) => ({ values }));

const token = fc.string({ unit: characterOf('abyzXY019!#$&^_.-'), minLength: 1, maxLength: 10 });
const jsonMediaType = fc
  .oneof(
    fc.constantFrom(
      undefined,
      '',
      'application/json',
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      'application/json;',
    ),
    fc.constantFrom('application/json ; x="/+json"', 'application/json; charset=utf-16'),
    token.map((subtype) => `application/${subtype}+json`),
  )
  .map((value) => ({ value, isJson: true }));
const otherMediaType = fc
  .oneof(
    fc.constantFrom(
      'text/plain',
      'text/json',
      'application/jsonp',
      'application/json-seq',
      'application/+json',
    ),
    fc.constantFrom('json', '*/*', 'application/json, text/plain', 'image/svg+json', 'application/x/y+json'),
    fc.tuple(token, token).map(([type, subtype]) => `${type}/${subtype}x`),
  )
  .map((value) => ({ value, isJson: false }));

export const create: fc.Arbitrary<Create> = fc.record({
  operation: fc.constant('createPet'),
  body: anyKindOfBody,
  mediaType: fc.oneof({ arbitrary: jsonMediaType, weight: 9 }, { arbitrary: otherMediaType, weight: 1 }),
  idempotencyKey: fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 9 },
    { arbitrary: goodIdempotencyKey, weight: 9 },
    { arbitrary: badIdempotencyKey, weight: 2 },
  ),
  followedBy: fc.constantFrom('nothing', 'repetition', 'repetition', 'another body'),
});
