import * as v from 'valibot';
import { decodeCursor } from './cursor.ts';

// Messages complete the sentence that starts with the field's name: "name must be …". Metadata is the JSON Schema of a
// value as clients write it, where the conversion to JSON Schema cannot see it in the checks.

/** 64 KiB; a pet is far below, and an accepted body can never exceed what a table stores. */
export const MAX_BODY_BYTES = 64 * 1024;

/** How long a repetition is recognised after the first request: a day. */
export const IDEMPOTENCY_SECONDS = 86_400;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MESSAGE = `must be an integer from ${INT64_MIN} to ${INT64_MAX}`;

const Int64 = v.pipe(
  v.bigint(INT64_MESSAGE),
  v.minValue(INT64_MIN, INT64_MESSAGE),
  v.maxValue(INT64_MAX, INT64_MESSAGE),
  v.metadata({ type: 'integer', format: 'int64', minimum: INT64_MIN, maximum: INT64_MAX }),
);

const NAME_MESSAGE = 'must be a string of 1 to 255 characters, not all white space, in well-formed Unicode';

/** 255 Unicode characters are at most 1,020 bytes in UTF-8: a pet stays a small item. */
const Name = v.pipe(
  v.string(NAME_MESSAGE),
  v.check(
    (name) => name.isWellFormed() && /[^\s\p{White_Space}]/u.test(name) && Array.from(name).length <= 255,
    NAME_MESSAGE,
  ),
  v.metadata({ type: 'string', minLength: 1, maxLength: 255, pattern: '[^\\s\\u0085]' }),
);

export const PetStatus = v.picklist(
  ['available', 'pending', 'sold'],
  'must be one of available, pending, sold',
);
export type PetStatus = v.InferOutput<typeof PetStatus>;

/** What a client sends to add a pet. Members it does not know, `id` among them, are dropped. */
export const NewPet = v.object({ name: Name, categoryId: Int64, status: v.exactOptional(PetStatus) });
export type NewPet = v.InferOutput<typeof NewPet>;

/** Of all int64 the service assigns only those that every JSON parser reads exactly, see `newPetId`. */
const AssignedId = v.pipe(Int64, v.metadata({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }));

export const Pet = v.object({ id: AssignedId, ...NewPet.entries });
export type Pet = v.InferOutput<typeof Pet>;

const IDEMPOTENCY_KEY_MESSAGE =
  'must be 1 to 255 visible ASCII characters without spaces, bare or in double quotes, given once';

/**
 * What identifies a request that may be repeated: a string of structured fields (RFC 9651 section 3.3.3), as the draft of
 * the header wants it, or the same characters bare. Both are the same key.
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/
 */
export const IdempotencyKey = v.pipe(
  v.string(IDEMPOTENCY_KEY_MESSAGE),
  v.regex(/^(?:[!#-~][!-~]{0,254}|"(?:[!#-[\]-~]|\\["\\]){1,255}")$/, IDEMPOTENCY_KEY_MESSAGE),
  v.transform((value) => (value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value)),
);

/** `petId` in the path: an int64 in plain decimal, without sign `+` and leading zeros. */
export const PetIdParameter = v.pipe(
  v.string(INT64_MESSAGE),
  v.regex(/^(?:0|-?[1-9]\d{0,18})$/, INT64_MESSAGE),
  v.transform((digits) => BigInt(digits)),
  Int64,
);

const LIMIT_MESSAGE = 'must be an integer from 1 to 100, given once';
const CURSOR_MESSAGE = 'must be the one from the Link header of the previous page, given once';

/** The query of a list. A parameter that is given twice arrives as an array and is refused. */
export const ListPetsQuery = v.object({
  limit: v.optional(
    v.pipe(
      v.string(LIMIT_MESSAGE),
      v.regex(/^(?:[1-9]\d?|100)$/, LIMIT_MESSAGE),
      v.metadata({ type: 'integer', minimum: 1, maximum: 100 }),
      v.transform(Number),
    ),
    '20',
  ),
  status: v.exactOptional(v.picklist(PetStatus.options, `${PetStatus.message as string}, given once`)),
  cursor: v.exactOptional(
    v.pipe(v.string(CURSOR_MESSAGE), v.transform(decodeCursor), v.bigint(CURSOR_MESSAGE)),
  ),
});
export type ListPetsQuery = v.InferOutput<typeof ListPetsQuery>;
