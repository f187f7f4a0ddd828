import * as v from 'valibot';
import { AssignedId, enumeration, IdempotencyKey, IdParameter, Int64, text } from './fields.ts';
import { listQuery } from './lists.ts';
import { PAGE } from './limits.ts';
import type { Collection, PublishedCollection } from './operation.ts';

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
  v.object({ id: AssignedId, ...NewPet.entries }),
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
  filterCombinations: [],
} as const satisfies Collection;

export const pets = {
  ...collection,
  operations: {
    list: {
      id: 'listPets',
      summary: 'List pets',
      method: 'GET',
      path: collection.path,
      request: { query: listQuery(collection) },
      success: {
        status: 200,
        description: 'A page of pets.',
        schema: v.pipe(v.array(Pet), v.maxLength(PAGE.maximum)),
        headers: ['Link'],
      },
      errors: [],
    },
    create: {
      id: 'createPet',
      summary: 'Create a pet',
      method: 'POST',
      path: collection.path,
      request: { headers: v.object({ 'Idempotency-Key': v.exactOptional(IdempotencyKey) }), body: NewPet },
      success: { status: 201, description: 'The new pet.', schema: Pet, headers: ['Location'] },
      errors: ['request_too_large', 'unsupported_media_type', 'idempotency_key_reused'],
    },
    get: {
      id: 'getPet',
      summary: 'Get a pet',
      method: 'GET',
      path: `${collection.path}/{petId}`,
      request: { path: v.object({ petId: IdParameter }) },
      success: { status: 200, description: 'The pet.', schema: Pet },
      errors: ['not_found'],
      deprecation: {
        since: new Date('2026-11-21T00:00:00Z'),
        sunset: new Date('2030-12-05T00:00:00Z'),
        successor: collection.path,
        advice: 'Use `GET /pets` with the `status` filter instead.',
      },
    },
  },
} as const satisfies PublishedCollection;
