import * as fc from 'fast-check';
import { MAX_NAME_CHARACTERS } from '../../shared/contract/limits.ts';
import { exampleBody } from './documented.ts';
import {
  type Content,
  escaped,
  goodFields,
  INT64_MAX,
  INT64_MIN,
  type Field,
  nested,
  objectOf,
  requiredNames,
  statuses,
} from './json.ts';

// Generates bodies of create requests and their expected responses, which follow docs/interface.md. The generators of
// `ownFields` do not use the contract's schemas, so the fuzzer can find errors in these schemas.

/** Code of an expected error response, and text that the error message must contain. */
export interface ExpectedError {
  code: string;
  mentions?: string;
}

export interface Body {
  /** Text of the body, or its bytes if they can be invalid UTF-8. */
  text: string | Uint8Array;
  /** Expected result, or undefined if it is unknown. A 400 that names a field in `otherNames` is accepted too. */
  expected?: { content: Content } | ExpectedError;
}

const invalid: ExpectedError = { code: 'invalid_request' };

const wrongFields: Field[] = [
  ['name', 'null'],
  ['categoryId', '"5"'],
  ['status', '"nonsense"'],
];

/** Valid bodies. If a body repeats a field, only the field's last value is valid. */
const goodBody = goodFields.chain(({ content, fields }) => {
  const overridden = wrongFields.filter(([name]) => name in content);
  return objectOf(fields, overridden).map((text) => ({ text, expected: { content } }));
});

function jsonBut(isExcluded: (value: unknown) => boolean): fc.Arbitrary<string> {
  return fc.json().filter((json) => !isExcluded(JSON.parse(json)));
}

const whiteSpace = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\u0085', '\u00A0', '\u3000') });
const tooLongName = fc.string({
  unit: 'binary',
  minLength: MAX_NAME_CHARACTERS + 1,
  maxLength: 2 * MAX_NAME_CHARACTERS,
});
const loneSurrogate = fc.constantFrom('\ud800', '\udc00', '\udfff\ud800');
const wrongJson: Record<string, fc.Arbitrary<string>> = {
  name: fc.oneof(
    jsonBut((value) => typeof value === 'string'),
    fc.oneof(whiteSpace, tooLongName).map((name) => JSON.stringify(name)),
    fc.tuple(fc.string(), loneSurrogate).map((parts) => escaped(parts.join(''))),
  ),
  categoryId: fc.oneof(
    jsonBut((value) => typeof value === 'number'),
    fc.constantFrom('1e400', '-1e400', '1e-400', '9'.repeat(10_000)),
    fc.bigInt({ min: INT64_MIN, max: INT64_MAX }).map((integer) => `${integer}.5`),
    fc.bigInt({ min: INT64_MAX + 1n, max: 2n ** 80n }).map(String),
    fc.bigInt({ min: -(2n ** 80n), max: INT64_MIN - 1n }).map((integer) => `${integer}.0`),
  ),
  status: jsonBut((value) => statuses.includes(value as string)),
};

/** Body that has one invalid field or lacks one required field. */
const wrongField = fc
  .tuple(goodFields, fc.constantFrom(...new Set([...Object.keys(wrongJson), ...requiredNames])), fc.nat(4))
  .chain(([{ fields }, wrong, choice]) => {
    const others = fields.filter(([name]) => name !== wrong);
    const isMissing = choice === 0 && requiredNames.includes(wrong);
    const wrongValue = isMissing ? undefined : wrongJson[wrong];
    const text = wrongValue?.chain((json) => objectOf([...others, [wrong, json]], fields));
    return (text ?? objectOf(others)).map((json) => ({
      text: json,
      expected: { ...invalid, mentions: wrong },
    }));
  });

const notAnObject = fc
  .oneof(
    jsonBut((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
    goodBody.map(({ text }) => `[${text}]`),
  )
  .map((text) => ({ text, expected: invalid }));

const notJson = goodBody
  .chain(({ text }) =>
    fc.oneof(
      fc.nat(text.length - 1).map((end) => text.slice(0, end)),
      fc.constantFrom('}', ',', '{}', 'x', '\0', '//', text).map((after) => `${text}${after}`),
      fc.constantFrom('\uFEFF', ',', 'x', '\0').map((before) => `${before}${text}`),
    ),
  )
  .map((text) => ({ text, expected: invalid }));

/** Damaged JSON, deeply nested JSON, arbitrary JSON, text or bytes. */
const anyBytes = fc.oneof(
  fc
    .tuple(goodBody, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }))
    .map(([{ text }, changes]) => {
      const bytes = Buffer.from(text);
      for (const [at, by] of changes) bytes[at % bytes.length] = by;
      return bytes;
    }),
  fc.integer({ min: 1, max: 30_000 }).map((depth) => exampleBody.replace('{', `{"x":${nested(depth)},`)),
  fc.json(),
  fc.string({ unit: 'binary' }),
  fc.uint8Array({ maxLength: 100 }),
);

export const anyBody: fc.Arbitrary<Body> = fc.oneof(
  { arbitrary: goodBody, weight: 4 },
  { arbitrary: fc.oneof(wrongField, notAnObject, notJson), weight: 4 },
  { arbitrary: anyBytes.map((text) => ({ text })), weight: 2 },
);
