import * as v from 'valibot';
import { INT64 } from './limits.ts';
import type { Fields } from './operation.ts';

// Schemas define the rules, description and examples of each field and parameter. The error messages of rules start
// with "must be", because error responses put the name of the field before them. If a rule is implemented as code, the
// schema's metadata contains the JSON Schema of the rule, because it cannot be derived from the code.

/**
 * Returns the schema of an enumeration. The error message quotes the values, because error responses can append
 * ", or omitted", which would otherwise look like another value.
 */
export function enumeration<const Values extends readonly string[]>(values: Values) {
  const quoted = values.map((value) => `"${value}"`);
  const alternatives = [quoted.slice(0, -1).join(', '), quoted.at(-1)].filter(Boolean);
  return v.picklist(values, `must be ${alternatives.join(' or ')}`);
}

/**
 * Returns the schema of an integer field.
 *
 * @param message error message @default - a message that asks for a JSON number, because some clients send a string
 */
export function integer(
  minimum: bigint,
  maximum: bigint,
  message = `must be an integer from ${minimum} to ${maximum}, as a JSON number`,
) {
  return v.pipe(
    v.bigint(message),
    v.minValue(minimum, message),
    v.maxValue(maximum, message),
    v.metadata({
      type: 'integer',
      format: 'int64',
      // The limits of int64 are omitted, because `format` implies them, and tools that use doubles would round them.
      ...(minimum !== INT64.minimum && { minimum }),
      ...(maximum !== INT64.maximum && { maximum }),
    }),
  );
}

export const Int64 = integer(INT64.minimum, INT64.maximum);

/**
 * Returns the message about a missing field. The message ends with the requirement for the field's value.
 *
 * @example missingMessage(integer(1n, 5n)) // is required, and must be an integer from 1 to 5, as a JSON number
 */
function missingMessage(schema: v.GenericSchema): string {
  return `is required, and ${v.safeParse(schema, undefined).issues![0].message}`;
}

/** Returns the part of an error message about an issue, such as `name must be a string`. */
export function problemOf(issue: v.BaseIssue<unknown>, { entries }: Fields, canBeOmitted = true): string {
  const path = v.getDotPath(issue);
  const field = path === null ? undefined : entries[path];
  if (issue.path?.at(-1)?.origin === 'key') return `${path} ${field ? missingMessage(field) : 'is required'}`;
  const omission = canBeOmitted && field && isOptional(field) ? ', or omitted' : '';
  return [path, `${issue.message}${omission}`].filter(Boolean).join(' ');
}

/** Returns whether a request can lack a field or parameter with this schema. */
export function isOptional({ type }: { type: string }): boolean {
  return type === 'optional' || type === 'exact_optional';
}

/** Matches a character that is neither white space nor a control character. */
const VISIBLE = /[^\s\p{Cc}]/u;
/** Character that decoders write in place of bytes that are not valid UTF-8. */
export const REPLACEMENT_CHARACTER = '\ufffd';

/**
 * Returns the schema of a text field. The schema rejects unpaired surrogates, because DynamoDB would change them, and
 * U+FFFD, because decoders, such as API Gateway's, write it in place of bytes that they cannot decode. The OpenAPI
 * document contains the rules only for requests, so that clients can validate responses even after a rule is
 * relaxed. The document states the rule about white space in words, because the meaning of `\s` in a pattern differs
 * between the languages of generated clients.
 *
 * @param maximum maximum length in Unicode code points
 * @param isBlankValid whether the text can be empty or consist only of white space and control characters
 */
export function text(maximum: number, { isBlankValid = true } = {}) {
  const length = isBlankValid ? `up to ${maximum}` : `1 to ${maximum}`;
  const notBlank = isBlankValid ? '' : ' that are not all white space or control characters';
  const message = `must be a string of ${length} characters${notBlank}, without U+FFFD and unpaired surrogates`;
  return v.pipe(
    v.string(message),
    v.check(
      (value) =>
        value.isWellFormed() &&
        !value.includes(REPLACEMENT_CHARACTER) &&
        Array.from(value).length <= maximum &&
        (isBlankValid || VISIBLE.test(value)),
      message,
    ),
    v.metadata({
      type: 'string',
      ...(!isBlankValid && { minLength: 1 }),
      maxLength: maximum,
      // The OpenAPI document appends this text to the description of the field.
      rules:
        `${isBlankValid ? '' : 'It must not consist only of white space and control characters. '}U+FFFD and unpaired ` +
        'surrogates are rejected. The length is measured in Unicode code points.',
    }),
  );
}

/** Returns the message about an integer in a URL. Each integer has one valid text: not `+5`, `05` or `5.0`, but `5`. */
export function integerTextMessage(minimum: number | bigint, maximum: number | bigint): string {
  return `must be a single integer from ${minimum} to ${maximum} in decimal digits, without leading zeros`;
}

const INT64_TEXT_MESSAGE = integerTextMessage(INT64.minimum, INT64.maximum);

/** Schema of an int64 in a URL, without a plus sign or leading zeros. The parsed value is a bigint. */
export const Int64Text = v.pipe(
  v.string(INT64_TEXT_MESSAGE),
  v.regex(/^(?:0|-?[1-9]\d{0,18})$/, INT64_TEXT_MESSAGE),
  v.transform((digits) => BigInt(digits)),
  integer(INT64.minimum, INT64.maximum, INT64_TEXT_MESSAGE),
);

const IDEMPOTENCY_KEY_FORM =
  '1 to 255 visible ASCII characters, or such characters and spaces in double quotes';
const IDEMPOTENCY_KEY_MESSAGE =
  `must be a single value of ${IDEMPOTENCY_KEY_FORM} ` +
  '(a key without quotes must not start with a double quote)';

/**
 * Schema of the `Idempotency-Key` header. The IETF draft requires a structured-field string (RFC 9651 section 3.3.3),
 * which can contain spaces. The schema also accepts visible characters without quotes: `a` and `"a"` are the same key.
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
export const IdempotencyKey = v.pipe(
  v.string(IDEMPOTENCY_KEY_MESSAGE),
  // The brackets are escaped, because generated clients in other languages use this pattern. Inside of a character
  // class, Java reads `[` as the start of another class, and .NET reads `-[` as a subtraction.
  v.regex(/^(?:[!#-~][!-~]{0,254}|"(?:[ !#-Z\x5b\x5d-~]|\\["\\]){1,255}")$/, IDEMPOTENCY_KEY_MESSAGE),
  v.transform((value) => (value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value)),
  v.description(
    `Identifies retries of this request. The key consists of ${IDEMPOTENCY_KEY_FORM} (an RFC 9651 string). The quotes are ` +
      'not part of the key. Reusing the key with another body results in a 422. Keys of different clients never conflict.',
  ),
);

/** Schema of an id from `newId`, with the ids of the first and the second item in the examples of lists. */
export const AssignedId = v.pipe(
  Int64,
  v.metadata({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  v.description(
    'Id that the service assigns. A newer item has a greater id, except for items that are created within seconds of ' +
      'each other. A retried create keeps the id of its first attempt. Ids have up to 53 bits, so all JSON parsers read ' +
      'them exactly.',
  ),
  v.examples([244141843387957n, 244141843354535n]),
);

/** Schema of an item's id in a URL. */
export const IdParameter = v.pipe(
  Int64Text,
  v.description(
    '`id` of the item, as a decimal integer. A value that is not the `id` of an item gets a 404.',
  ),
  v.examples([244141843387957n]),
);
