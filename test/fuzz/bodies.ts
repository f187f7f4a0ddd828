import * as fc from 'fast-check';
import {
  type Content,
  goodMembers,
  INT64_MAX,
  INT64_MIN,
  type Member,
  MOST_CHARACTERS,
  nested,
  objectOf,
  spellUnits,
  statuses,
} from './json.ts';

// Bodies of POST /v1/pets, with what docs/interface.md says to each. Nothing here knows the schemas.

/** A refusal by its code, and what its message has to name. */
export interface Refusal {
  code: string;
  naming?: string;
}

export interface Body {
  text: string;
  /** Of `latin1` each character is a byte: together they are no UTF-8. */
  encoding: 'utf8' | 'latin1';
  /** Bytes that it is filled up to with white space. */
  length?: number;
  /** What must become of it; without, it may be a pet or not. */
  expected?: { content: Content } | Refusal;
}

const MOST_BYTES = 64 * 1024;

const wrongMembers: Member[] = [
  ['name', 'null'],
  ['categoryId', '"5"'],
  ['status', '"lost"'],
];

const goodBody: fc.Arbitrary<Body> = goodMembers.chain(({ content, members }) => {
  // Of members with one name the last counts; without a status, none may be overruled.
  const overruled = wrongMembers.filter(([name]) => name in content);
  return objectOf(members, overruled).map((text) => ({ text, encoding: 'utf8', expected: { content } }));
});

const noString = fc.constantFrom('null', 'true', '5', '1e400', '[]', '["Rex"]', '{}', '{"toString":"Rex"}');
const noInteger = fc.oneof(
  fc.constantFrom('null', 'false', '""', '"5"', '[5]', '{}', '1e400', '-1e400', '1e-400', '0.1'),
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }).map((integer) => `${integer}.5`),
  fc.bigInt({ min: INT64_MAX + 1n, max: 2n ** 80n }).map((integer) => `${integer}`),
  fc.bigInt({ min: -(2n ** 80n), max: INT64_MIN - 1n }).map((integer) => `${integer}.0`),
  fc.integer({ min: 19, max: 10_000 }).map((digits) => '9'.repeat(digits + 1)),
);
const blank = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\u0085', '\u00A0', '\u2003', '\u3000') });
const longName = fc.string({
  unit: 'binary',
  minLength: MOST_CHARACTERS + 1,
  maxLength: 2 * MOST_CHARACTERS,
});
const brokenName = fc
  .tuple(
    fc.string(),
    fc.constantFrom(String.raw`\ud800`, String.raw`\udc00`, String.raw`\udfff\ud800`),
    fc.string(),
  )
  .map(
    ([before, half, after]) =>
      `"${spellUnits(before, () => true).slice(1, -1)}${half}${JSON.stringify(after).slice(1)}`,
  );

const wrongJson: Record<keyof Content, fc.Arbitrary<string>> = {
  name: fc.oneof(noString, fc.oneof(blank, longName).map(JSON.stringify), brokenName),
  categoryId: noInteger,
  status: fc.oneof(
    noString,
    fc
      .oneof(fc.string(), fc.constantFrom('', 'Sold', ' sold', 'sold\0', 'constructor'))
      .filter((status) => !statuses.includes(status))
      .map((status) => JSON.stringify(status)),
  ),
};

/** A pet of which one member is wrong, or missing. */
const wrongMember: fc.Arbitrary<Body> = fc
  .tuple(goodMembers, fc.constantFrom<(keyof Content)[]>('name', 'categoryId', 'status'))
  .chain(([{ members }, wrong]) => {
    const others = members.filter(([name]) => name !== wrong);
    const without = objectOf(others);
    const withWrong = wrongJson[wrong].chain((json) => objectOf([...others, [wrong, json]], members));
    return fc
      .oneof(
        { arbitrary: withWrong, weight: 4 },
        { arbitrary: wrong === 'status' ? withWrong : without, weight: 1 },
      )
      .map((text) => refused(text, wrong));
  });

const noObject: fc.Arbitrary<Body> = fc
  .oneof(
    fc.constantFrom('', ' ', 'null', 'true', '5', '[]', '"name"', '[{}]'),
    goodBody.map(({ text }) => `[${text}]`),
    goodBody.map(({ text }) => JSON.stringify(text)),
  )
  .map((text) => refused(text));

const noJson: fc.Arbitrary<Body> = goodBody
  .chain(({ text }) =>
    fc.oneof(
      fc.nat(text.length - 1).map((end) => text.slice(0, end)),
      fc.constantFrom('}', ',', '{}', 'x', '\0', '//', text).map((after) => `${text}${after}`),
      fc.constantFrom('\uFEFF', ',', 'x', '\0').map((before) => `${before}${text}`),
      fc
        .constantFrom('{"x":01,', '{"x":+1,', "{'x':1,", '{"x":NaN,', '{"x":"\n",', '{,')
        .map((start) => text.replace('{', start)),
    ),
  )
  .map((text) => refused(text));

/** Bytes in the middle of good ones that make no character. */
const noUtf8: fc.Arbitrary<Body> = goodBody.chain(({ text }) => {
  const bytes = Buffer.from(text).toString('latin1');
  // There they would be U+FFFD to a lenient reader, and elsewhere break the JSON.
  const inName = /"name"\s*:\s*"/.exec(bytes)!;
  return fc
    .tuple(
      fc.oneof(fc.nat(bytes.length), fc.constant(inName.index + inName[0].length)),
      fc.constantFrom('\xFF', '\x80', '\xC0\x80', '\xED\xA0\x80', '\xF5\x80\x80\x80', '\xE2\x82'),
    )
    .map(([at, wrong]) => ({ ...refused(bytes.slice(0, at) + wrong + bytes.slice(at)), encoding: 'latin1' }));
});

const fullLength: fc.Arbitrary<Body> = goodBody.map((body) => ({ ...body, length: MOST_BYTES }));
const tooLong: fc.Arbitrary<Body> = fc
  .tuple(goodBody, fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 300_000 })))
  .map(([body, excess]) => ({
    ...body,
    length: MOST_BYTES + excess,
    expected: { code: 'request_too_large' },
  }));

/** What may be anything: a pet with other characters here and there, deep nesting, arbitrary JSON, text and bytes. */
const anyBody: fc.Arbitrary<Body> = fc.oneof(
  fc
    .tuple(
      goodBody,
      fc.array(fc.tuple(fc.nat(), fc.string({ maxLength: 3 })), { minLength: 1, maxLength: 4 }),
    )
    .map(([{ text }, changes]): Body => ({
      text: changes.reduce((changed, [index, by]) => {
        const at = index % (changed.length + 1);
        return changed.slice(0, at) + by + changed.slice(at + by.length);
      }, text),
      encoding: 'utf8',
    })),
  fc
    .integer({ min: 1, max: 30_000 })
    .map((depth): Body => ({ text: `{"name":"Rex","categoryId":5,"x":${nested(depth)}}`, encoding: 'utf8' })),
  fc.oneof(fc.json(), fc.string({ unit: 'binary' })).map((text): Body => ({ text, encoding: 'utf8' })),
  fc
    .uint8Array({ maxLength: 100 })
    .map((bytes): Body => ({ text: Buffer.from(bytes).toString('latin1'), encoding: 'latin1' })),
);

function refused(text: string, naming?: string): Body {
  return {
    text,
    encoding: 'utf8',
    expected: { code: 'invalid_request', ...(naming !== undefined && { naming }) },
  };
}

export const anyKindOfBody: fc.Arbitrary<Body> = fc.oneof(
  { arbitrary: goodBody, weight: 40 },
  { arbitrary: wrongMember, weight: 20 },
  { arbitrary: noJson, weight: 8 },
  { arbitrary: noObject, weight: 5 },
  { arbitrary: noUtf8, weight: 6 },
  { arbitrary: fullLength, weight: 2 },
  { arbitrary: tooLong, weight: 4 },
  { arbitrary: anyBody, weight: 15 },
);

export function bytesOf({ text, encoding, length = 0 }: Body): Buffer {
  const bytes = Buffer.from(text, encoding);
  return Buffer.concat([bytes, Buffer.alloc(Math.max(0, length - bytes.length), ' ')]);
}
