import type { ErrorCode } from '../../../shared/contract/errors.ts';
import type { operations } from '../../../shared/contract/operations.ts';
import {
  IDEMPOTENCY_SECONDS,
  type ListPetsQuery,
  MAX_BODY_BYTES,
  type Pet,
} from '../../../shared/contract/schemas.ts';

// What the OpenAPI document says in words, as Markdown (CommonMark). Rules stand in the schemas; these explain them.

const HOURS = IDEMPOTENCY_SECONDS / 3_600;

export const introduction = `
Animals offered in a store: list them, add one, fetch one. Bodies are JSON (RFC 8259) in UTF-8.

## Keys

Every request carries an API key: \`Authorization: Bearer <API_KEY>\`. The operator of the service hands it out, for one stage: a key starts
with \`pets_production_\` or \`pets_staging_\`. Treat it as a password. A 401 is final and says the same whatever is wrong with the key.

## Exact integers

\`id\` and \`categoryId\` are 64-bit integers (int64), kept and answered digit by digit. Every \`id\` that the service assigns is at most 2^53−1, so that
every JSON parser reads it exactly. A \`categoryId\` may be beyond that: read it with a parser that keeps digits, or it is rounded in your program.

## Creating exactly once

An answer can get lost, and then nobody can tell from outside whether the pet was added. Send each create with an \`Idempotency-Key\` of its own, a
random UUID for example, and repeat it with the same key and body after a 429, a 5xx, a time-out or a lost connection: for ${HOURS} hours one key is one pet,
and every repetition gets the same 201. Wait as long as \`Retry-After\` says, else for growing pauses of random length. Reads may always be repeated.

## Pages

A list has at most \`limit\` pets. While there are more, the answer has a header \`Link: <address>; rel="next"\` (RFC 8288): follow that address as it is, until an
answer has none. Pages never repeat a pet, and skip none that was in lists when the walk began.

## Refusals

Every answer that is not a success has the same body, \`Error\`, whoever writes it:

| \`code\` | status | when |
|---|---|---|
`.trimStart();

export const operationTexts: Record<keyof typeof operations, { description: string; success: string }> = {
  listPets: {
    description:
      'At most `limit` pets, those with a `status` alone if one is asked for, newest first. A pet is in lists within moments of its creation.',
    success: 'A page of pets. There are more while it has a `Link` with `rel="next"`.',
  },
  createPet: {
    description:
      'Adds a pet and assigns its `id`. Send it with an `Idempotency-Key`, so that it can be repeated safely. The media type may also be any ' +
      `\`application/*+json\`, or be left out. The body has at most ${MAX_BODY_BYTES / 1_024} KiB; members that are not listed here are ignored.`,
    success: 'The pet, with its `id`.',
  },
  getPet: {
    description: 'One pet by its `id`. Reads consistently: a pet that was created is there at once.',
    success: 'The pet.',
  },
};

/** Said of a deprecated operation. */
export function deprecationText(sunset: string): string {
  return `**Deprecated**: goes away on ${sunset}. Use \`GET /pets\` with the \`status\` filter instead.`;
}

export const schemaTexts = {
  Pet: 'An animal that is offered in the store.',
  NewPet: 'What is sent to add an animal.',
  PetStatus: 'Whether an animal can be had.',
  Error: 'Why a request was refused.',
};

export const petTexts: Record<keyof Pet, string> = {
  id: 'Assigned by the service, growing with time. Every JSON parser reads it exactly.',
  name: 'Not all of it is white space, and it is well-formed Unicode. Kept as sent.',
  categoryId: 'The category that the animal belongs to: any 64-bit signed integer, kept exactly.',
  status: 'Whether the animal can be had. If none was given there is none; it is never `null`.',
};

export const parameterTexts: Record<keyof ListPetsQuery | 'petId' | 'Idempotency-Key', string> = {
  limit: 'How many pets the answer has at most.',
  status: 'Lists only the pets with this status.',
  cursor:
    'Where a page begins. Opaque: do not make one, but follow the `Link` of the page before, which has it.',
  petId: '`id` of the pet, in plain decimal. Anything else is told 404, as any pet that does not exist.',
  'Idempotency-Key':
    `Stands for this one create for ${HOURS} hours, together with the API key: 1 to 255 visible ASCII characters without spaces, in double quotes ` +
    '(a string of RFC 9651) or bare, which are the same key.',
};

/** When each refusal is given. */
export const refusalTexts: Record<ErrorCode, string> = {
  invalid_request:
    'A parameter, a header or the body breaks a rule; `message` names each field and what it must be.',
  unauthorized: 'The API key is missing, malformed, unknown, expired or revoked.',
  forbidden: 'The firewall refused the request.',
  not_found: 'There is no such pet, or no such address.',
  method_not_allowed: 'The address does not take this method; `Allow` lists those that it takes.',
  request_too_large: 'The body is too large.',
  unsupported_media_type: 'The body is neither `application/json` nor `application/*+json`.',
  idempotency_key_reused: `This \`Idempotency-Key\` was sent with another pet in the last ${HOURS} hours.`,
  too_many_requests: 'Above the rate of the stage, of the client’s address or of its API key.',
  internal_error: 'A fault of the service. `message` has the request id.',
  service_unavailable: 'The service cannot answer at this moment. `message` has the request id.',
  gateway_timeout: 'The service did not answer in time. `message` has the request id.',
};
