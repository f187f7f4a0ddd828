import * as v from 'valibot';
import {
  type Collection,
  createDescription,
  getDescription,
  keyReusedMessage,
  listDescription,
  notFoundMessage,
  type PublishedCollection,
} from './collection.ts';
import {
  assignedId,
  enumeration,
  idempotencyKey,
  idParameter,
  Int64,
  text,
  UNUSED_EXAMPLE_ID,
} from './fields.ts';
import { INT64, PAGE } from './limits.ts';
import { listQuery } from './lists.ts';

// This file defines the schemas, the list and the operations of pets.

/** Maximum length of a name in Unicode code points, which have up to 4 bytes each in UTF-8 (1,020 bytes in total). */
const MAX_NAME_CHARACTERS = 255;

const STATUSES = ['available', 'pending', 'sold'] as const;

export const PetStatus = v.pipe(enumeration(STATUSES), v.description('Availability of the pet.'));
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
  v.description('The pet to create.'),
);
export type NewPet = v.InferOutput<typeof NewPet>;

export const Pet = v.pipe(
  v.object({ id: assignedId('pets'), ...NewPet.entries }),
  v.description('A pet that the store offers. Without a status, the field `status` is absent, not `null`.'),
);
export type Pet = v.InferOutput<typeof Pet>;

const collection = {
  singular: 'pet',
  plural: 'pets',
  description: 'Pets that the store offers.',
  path: '/v1/pets',
  item: Pet,
  schemas: { Pet, NewPet, PetStatus },
  filters: {
    status: v.pipe(
      v.exactOptional(enumeration(STATUSES)),
      v.description('Returns only pets with this status.'),
      v.examples(['available']),
    ),
  },
  filterCombinations: [[], ['status']],
  // This prefix was the version of the cursor format when the API had only this list. It must not change, because
  // cursors that clients already have must keep working.
  cursorPrefix: '2',
} as const satisfies Collection;

export const pets = {
  ...collection,
  operations: {
    list: {
      id: 'listPets',
      summary: 'List pets',
      description: listDescription(collection),
      method: 'GET',
      path: collection.path,
      request: v.object({ query: listQuery(collection) }),
      success: {
        status: 200,
        description: 'A page of pets.',
        schema: v.pipe(v.array(Pet), v.maxLength(PAGE.maximum)),
        headers: ['Link'],
      },
      errors: { invalid_request: true },
    },
    create: {
      id: 'createPet',
      summary: 'Create a pet',
      description: createDescription(collection),
      method: 'POST',
      path: collection.path,
      request: v.object({
        headers: v.object({ 'Idempotency-Key': v.exactOptional(idempotencyKey(collection)) }),
        body: NewPet,
      }),
      success: {
        status: 201,
        description: 'The new pet.',
        schema: Pet,
        headers: ['Location'],
      },
      errors: {
        invalid_request:
          `name is required, and must be a string of 1 to ${MAX_NAME_CHARACTERS} characters that are not all white space or control characters, ` +
          `without U+FFFD and unpaired surrogates; categoryId must be an integer from ${INT64.minimum} to ${INT64.maximum}, as a JSON number.`,
        request_too_large: true,
        unsupported_media_type: true,
        idempotency_key_reused: keyReusedMessage(collection),
      },
    },
    get: {
      id: 'getPet',
      summary: 'Get a pet',
      description: getDescription(collection),
      method: 'GET',
      path: `${collection.path}/{petId}`,
      request: v.object({ path: v.object({ petId: idParameter(collection) }) }),
      success: { status: 200, description: 'The pet.', schema: Pet },
      errors: { not_found: notFoundMessage(collection, UNUSED_EXAMPLE_ID) },
      deprecation: {
        since: new Date('2026-11-21T00:00:00Z'),
        sunset: new Date('2030-12-05T00:00:00Z'),
        successor: collection.path,
        advice: 'Use `GET /pets` with the `status` filter instead.',
      },
    },
  },
} as const satisfies PublishedCollection;
