import * as v from 'valibot';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { IDEMPOTENCY_HOURS, INT64, MAX_NAME_CHARACTERS, PAGE } from './limits.ts';

// Each member and parameter stands here once: what it must be, what the documents say of it, and examples. Messages
// complete the sentence that starts with its name: "name must be …". Metadata is the JSON Schema of a value as clients
// write it, where the conversion to JSON Schema cannot see it in the checks.

const INT64_MESSAGE = `must be an integer from ${INT64.minimum} to ${INT64.maximum}`;

const Int64 = v.pipe(
  v.bigint(INT64_MESSAGE),
  v.minValue(INT64.minimum, INT64_MESSAGE),
  v.maxValue(INT64.maximum, INT64_MESSAGE),
  v.metadata({ type: 'integer', format: 'int64', ...INT64 }),
);

/**
 * At least one character that is not white space. In ECMA-262, the dialect of JSON Schema, it matches exactly these names.
 * Other dialects (Java, Python, PCRE, RE2) may accept more names, never fewer: they lack `\u`, differ in `\s` and `\v`, and
 * may match the whole text only. U+2028, U+2029 and U+FEFF do not stand for themselves, because they break code that
 * generators write.
 */
const NAME_PATTERN = String.raw`^[\s\S]*(?:[^\s\v\x85\xa0${'\u1680\u2000-\u200a\u202f\u205f\u3000'}]|[\x1c-\x1f])[\s\S]*$`;
const NAME_MESSAGE = `must be a string of 1 to ${MAX_NAME_CHARACTERS} characters, not all white space, in well-formed Unicode`;
const nameRule = new RegExp(NAME_PATTERN);

const Name = v.pipe(
  v.string(NAME_MESSAGE),
  v.check(
    (name) => name.isWellFormed() && nameRule.test(name) && Array.from(name).length <= MAX_NAME_CHARACTERS,
    NAME_MESSAGE,
  ),
  v.metadata({ type: 'string', minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: NAME_PATTERN }),
);

const STATUSES = ['available', 'pending', 'sold'] as const;
const STATUS_MESSAGE = `must be one of ${STATUSES.join(', ')}`;

export const PetStatus = v.pipe(
  v.picklist(STATUSES, STATUS_MESSAGE),
  v.description('Whether the animal is available.'),
);
export type PetStatus = v.InferOutput<typeof PetStatus>;

const NAMES = v.examples<string, readonly string[]>(['Rex', 'Mia']);

/** What a client sends to add a pet. Members it does not know, `id` among them, are dropped. */
export const NewPet = v.pipe(
  v.object({
    name: v.pipe(
      Name,
      v.description(
        'At least one character is not white space, and all are well-formed Unicode. Stored as sent. Its length is counted ' +
          'in Unicode code points.',
      ),
      NAMES,
    ),
    categoryId: v.pipe(
      Int64,
      v.description(
        'Identifier of the category that the animal belongs to: any 64-bit signed integer, stored exactly. A JSON parser ' +
          'whose numbers are doubles rounds it beyond 2^53.',
      ),
      v.examples([7n]),
    ),
    status: v.pipe(v.exactOptional(PetStatus), v.examples(['available'])),
  }),
  v.description('The animal to add.'),
);
export type NewPet = v.InferOutput<typeof NewPet>;

/** Of all int64 the service assigns only those that every JSON parser reads exactly, see `newPetId`. */
const AssignedId = v.pipe(
  Int64,
  v.metadata({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  v.description('Assigned by the service, growing with time. Every JSON parser reads it exactly.'),
  v.examples([244141843387957n, 244141843354535n]),
);

/** Without the rules of `NewPet`: a client that validates what it reads must not fail when they are relaxed. */
const StoredName = v.pipe(v.string(), v.description('The name as it was sent.'), NAMES);

export const Pet = v.pipe(
  v.object({ id: AssignedId, ...NewPet.entries, name: StoredName }),
  v.description(
    'An animal that is offered in the store. Created without a `status`, it has none; `status` is never `null`.',
  ),
);
export type Pet = v.InferOutput<typeof Pet>;

const IDEMPOTENCY_KEY_FORM = '1 to 255 visible ASCII characters without spaces';
const IDEMPOTENCY_KEY_MESSAGE = `must be ${IDEMPOTENCY_KEY_FORM}, bare or in double quotes, given once`;

/**
 * What identifies a request that may be retried: a string of structured fields (RFC 9651 section 3.3.3), as the draft of
 * the header wants it, or the same characters bare. Both are the same key.
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
export const IdempotencyKey = v.pipe(
  v.string(IDEMPOTENCY_KEY_MESSAGE),
  v.regex(/^(?:[!#-~][!-~]{0,254}|"(?:[!#-[\]-~]|\\["\\]){1,255}")$/, IDEMPOTENCY_KEY_MESSAGE),
  v.transform((value) => (value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value)),
  v.description(
    `Stands for this one create for ${IDEMPOTENCY_HOURS} hours, together with the API key: ${IDEMPOTENCY_KEY_FORM}, in double quotes ` +
      '(a string of RFC 9651) or bare, which are the same key.',
  ),
  v.examples(['"8e03978e-40d5-43dd-bc93-6894a57f9324"']),
);

/** `petId` in the path: an int64 in plain decimal, without sign `+` and leading zeros. */
export const PetIdParameter = v.pipe(
  v.string(INT64_MESSAGE),
  v.regex(/^(?:0|-?[1-9]\d{0,18})$/, INT64_MESSAGE),
  v.transform((digits) => BigInt(digits)),
  Int64,
  v.description(
    '`id` of the pet, in plain decimal. Anything else is told 404, as any pet that does not exist.',
  ),
  v.examples([244141843387957n]),
);

const LIMIT_MESSAGE = `must be an integer from ${PAGE.minimum} to ${PAGE.maximum}, given once`;

const Limit = v.pipe(
  v.string(LIMIT_MESSAGE),
  v.regex(/^[1-9]\d{0,3}$/, LIMIT_MESSAGE),
  v.transform(Number),
  v.minValue(PAGE.minimum, LIMIT_MESSAGE),
  v.maxValue(PAGE.maximum, LIMIT_MESSAGE),
  v.metadata({ type: 'integer', format: 'int32', minimum: PAGE.minimum, maximum: PAGE.maximum }),
);

const CURSOR_MESSAGE = 'is not from a page of this list: start again without it';

const Cursor = v.pipe(
  v.string('must be given once'),
  v.regex(/^[\w-]{1,64}$/, CURSOR_MESSAGE),
  v.metadata({ type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }),
  v.examples([encodeCursor(244141843354535n, 'available')]),
);

/** The query of a list. A parameter that is given twice arrives as an array and is rejected. */
export const ListPetsQuery = v.pipe(
  v.object({
    limit: v.pipe(
      v.optional(Limit, PAGE.default.toString()),
      v.description('The maximum number of pets in the response.'),
      v.examples([2]),
    ),
    status: v.pipe(
      v.exactOptional(v.picklist(STATUSES, `${STATUS_MESSAGE}, given once`)),
      v.description('Lists only the pets with this status.'),
      v.examples(['available']),
    ),
    cursor: v.pipe(
      v.exactOptional(Cursor),
      v.description(
        'Where a page begins, in a list of the same `status`. Opaque: follow the `Link` of the page before, which has it.',
      ),
    ),
  }),
  v.rawTransform(({ dataset: { value }, addIssue }) => {
    const { cursor, ...others } = value;
    const query: typeof others & { cursor?: bigint } = others;
    if (cursor === undefined) return query;
    const id = decodeCursor(cursor, query.status);
    if (id === undefined) {
      const path = { type: 'object', origin: 'value', input: value, key: 'cursor', value: cursor } as const;
      addIssue({ message: CURSOR_MESSAGE, path: [path] });
    } else query.cursor = id;
    return query;
  }),
);
export type ListPetsQuery = v.InferOutput<typeof ListPetsQuery>;
