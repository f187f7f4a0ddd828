import * as v from 'valibot';
import type { ErrorCode } from './errors.ts';
import { IdempotencyKey, ListPetsQuery, NewPet, Pet, PetIdParameter } from './schemas.ts';

/** One operation of the interface. Route, validation, answer and documentation derive from it. */
export interface Operation {
  id: string;
  summary: string;
  method: 'GET' | 'POST';
  /** Resource path with `{name}` for parameters, below the base address's host and stage. */
  path: `/v1/${string}`;
  /** Has a member for each part of the request that counts. */
  request: v.GenericSchema<unknown, object> & { entries: RequestParts };
  success: {
    status: 200 | 201;
    schema: v.GenericSchema;
    /** Headers of its own, and whether every success has them. */
    headers?: Record<string, 'always' | 'sometimes'>;
  };
  /** Refusals of its own, beside those that every operation can answer with. */
  errors: readonly ErrorCode[];
  deprecation?: Deprecation;
}

export interface RequestParts {
  path?: v.GenericSchema;
  query?: v.GenericSchema;
  /** Its entries bear the headers' names; others are not looked at. */
  headers?: v.GenericSchema & { entries: Record<string, v.GenericSchema> };
  body?: v.GenericSchema;
}

/** Deprecation of an operation (RFC 9745) with the day of its removal (RFC 8594). */
export interface Deprecation {
  since: Date;
  sunset: Date;
  /** Path of the operation to use instead (`rel="successor-version"`, RFC 5829). */
  successor: `/v1/${string}`;
}

const PETS = '/v1/pets';

export const operations = {
  listPets: {
    id: 'listPets',
    summary: 'List all animals, newest first',
    method: 'GET',
    path: PETS,
    request: v.object({ query: ListPetsQuery }),
    success: { status: 200, schema: v.array(Pet), headers: { Link: 'sometimes' } },
    errors: ['invalid_request'],
  },
  createPet: {
    id: 'createPet',
    summary: 'Add an animal',
    method: 'POST',
    path: PETS,
    request: v.object({
      headers: v.object({ 'Idempotency-Key': v.exactOptional(IdempotencyKey) }),
      body: NewPet,
    }),
    success: { status: 201, schema: Pet, headers: { Location: 'always' } },
    errors: ['invalid_request', 'request_too_large', 'unsupported_media_type', 'idempotency_key_reused'],
  },
  getPet: {
    id: 'getPet',
    summary: 'Get an animal',
    method: 'GET',
    path: `${PETS}/{petId}`,
    request: v.object({ path: v.object({ petId: PetIdParameter }) }),
    success: { status: 200, schema: Pet },
    errors: ['not_found'],
    deprecation: {
      since: new Date('2026-11-21T00:00:00Z'),
      sunset: new Date('2030-12-05T00:00:00Z'),
      successor: PETS,
    },
  },
} as const satisfies Record<string, Operation>;
