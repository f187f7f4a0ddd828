import * as v from 'valibot';
import { assignedId, idempotencyKey, idParameter, Int64, text } from './fields.ts';
import { IDEMPOTENCY_HOURS, INT64, MAX_BODY_BYTES, MAX_NAME_CHARACTERS, PAGE } from './limits.ts';
import { type List, listQuery } from './lists.ts';
import type { Operation } from './operation.ts';

// All that is published of pets.

const STATUSES = ['available', 'pending', 'sold'] as const;

export const PetStatus = v.pipe(
  v.picklist(STATUSES, `must be one of ${STATUSES.join(', ')}`),
  v.description('Availability of the pet.'),
);
export type PetStatus = v.InferOutput<typeof PetStatus>;

/** Body of `createPet`. Unknown fields, such as `id`, are dropped. */
export const NewPet = v.pipe(
  v.object({
    name: v.pipe(
      text(MAX_NAME_CHARACTERS, { isBlankValid: false }),
      v.description('Name of the pet, stored unchanged.'),
      v.examples(['Rex', 'Mia']),
    ),
    categoryId: v.pipe(
      Int64,
      v.description(
        'Id of the category that the pet belongs to. JSON parsers that represent numbers as doubles round values beyond 2^53.',
      ),
      v.examples([7n]),
    ),
    status: v.pipe(v.exactOptional(PetStatus), v.examples(['available'])),
  }),
  v.description('The pet to add.'),
);
export type NewPet = v.InferOutput<typeof NewPet>;

export const Pet = v.pipe(
  v.object({ id: assignedId('pets'), ...NewPet.entries }),
  v.description(
    'A pet that the store offers. If the pet was added without a `status`, this field is absent, not `null`.',
  ),
);
export type Pet = v.InferOutput<typeof Pet>;

export const petList = {
  path: '/v1/pets',
  plural: 'pets',
  // The version of the cursors' format from before there could be other lists. Cursors that clients have must keep working.
  cursorPrefix: '2',
  filters: {
    status: v.pipe(
      v.exactOptional(v.picklist(STATUSES, `must be exactly one of ${STATUSES.join(', ')}`)),
      v.description('Returns only pets with this status.'),
      v.examples(['available']),
    ),
  },
  filterCombinations: [[], ['status']],
} as const satisfies List;

export const petOperations = {
  listPets: {
    id: 'listPets',
    summary: 'List pets',
    description:
      'Returns a page of up to `limit` pets, newest first. If there are more pets, the response has a `Link` header (RFC 8288) ' +
      'with `rel="next"` and the URL of the next page. Request this URL unchanged. The last page has no `Link` header.\n\n' +
      'Pages never repeat a pet and never skip a pet that was listed when the first page was requested. ' +
      'A new pet appears in lists shortly after it is added.',
    method: 'GET',
    path: petList.path,
    request: v.object({ query: listQuery(petList) }),
    success: {
      status: 200,
      description: 'A page of pets.',
      schema: v.pipe(v.array(Pet), v.maxLength(PAGE.maximum)),
      headers: { NextPage: 'sometimes' },
    },
    errors: {
      invalid_request: `limit must be a single integer from ${PAGE.minimum} to ${PAGE.maximum}; status must be exactly one of ${PetStatus.options.join(', ')}.`,
    },
  },
  createPet: {
    id: 'createPet',
    summary: 'Add a pet',
    description:
      'Adds a pet and assigns its `id`.\n\nTo retry safely, send an `Idempotency-Key` that is unique to this pet, such as a random ' +
      'UUID. After a 429, a 5xx, a timeout or a lost connection, retry with the same key and body. For ' +
      `${IDEMPOTENCY_HOURS} hours, all retries return the same pet and never create a duplicate pet. ` +
      'If the response has a `Retry-After` header, wait the number of seconds in the header. Otherwise, use exponential ' +
      'backoff with jitter.\n\nThe `Content-Type` ' +
      'can also be any `application` type ending in `+json`, or be omitted. The body must be UTF-8 without a `Content-Encoding` ' +
      `and is limited to ${MAX_BODY_BYTES / 1_024} KiB. Unknown fields are ignored.`,
    method: 'POST',
    path: petList.path,
    request: v.object({
      headers: v.object({ 'Idempotency-Key': v.exactOptional(idempotencyKey('pet')) }),
      body: NewPet,
    }),
    success: {
      status: 201,
      description: 'The new pet.',
      schema: Pet,
      headers: { Location: 'always' },
      links: { GetPet: { operationId: 'getPet', parameters: { petId: '$response.body#/id' } } },
    },
    errors: {
      invalid_request: `name is required; categoryId must be an integer from ${INT64.minimum} to ${INT64.maximum}.`,
      request_too_large: `The body must not exceed ${MAX_BODY_BYTES} bytes.`,
      unsupported_media_type: true,
      idempotency_key_reused: true,
    },
  },
  getPet: {
    id: 'getPet',
    summary: 'Get a pet',
    description:
      'Returns the pet with this `id`. Reads are strongly consistent, so a new pet is available immediately.',
    method: 'GET',
    path: `${petList.path}/{petId}`,
    request: v.object({ path: v.object({ petId: idParameter('pet') }) }),
    success: { status: 200, description: 'The pet.', schema: Pet },
    errors: { not_found: 'No pet has the id 244141843387958.' },
    deprecation: {
      since: new Date('2026-11-21T00:00:00Z'),
      sunset: new Date('2030-12-05T00:00:00Z'),
      successor: petList.path,
      advice: 'Use `GET /pets` with the `status` filter instead.',
    },
  },
} as const satisfies Record<string, Operation>;
