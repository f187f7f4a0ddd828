import * as v from 'valibot';
import type { ErrorCode } from './errors.ts';
import { IDEMPOTENCY_HOURS, INT64, MAX_BODY_BYTES, PAGE } from './limits.ts';
import { IdempotencyKey, ListPetsQuery, NewPet, Pet, PetIdParameter, PetStatus } from './schemas.ts';

/** One operation of the API. Route, validation, response and documents derive from it. */
export interface Operation {
  id: string;
  summary: string;
  /** In Markdown, for the documents. */
  description: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Resource path with `{name}` for parameters, below the base URL's host and stage. */
  path: `/v1/${string}`;
  /** Has a member for each part of the request that counts. */
  request: v.GenericSchema<unknown, object> & { entries: RequestParts };
  success: {
    status: 200 | 201 | 204;
    description: string;
    /** @default - no body */
    schema?: v.GenericSchema;
    /** Headers of its own by their keys in the OpenAPI document, and whether every success has them. */
    headers?: Partial<Record<'NextPage' | 'Location', 'always' | 'sometimes'>>;
    /** Operations that take a value of the response, by a runtime expression (OpenAPI, "Link Object"). */
    links?: Record<string, { operationId: string; parameters: Record<string, string> }>;
  };
  /** Errors of its own, beside those of every operation: an example of the `message`, or true for the catalogue's. */
  errors: Partial<Record<ErrorCode, string | true>>;
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
  /** What to use instead, in Markdown. */
  advice: string;
}

const PETS = '/v1/pets';

export const operations = {
  listPets: {
    id: 'listPets',
    summary: 'List all animals, newest first',
    description:
      'Returns at most `limit` pets, newest first. While there are more, the response has a header `Link: <URL>; rel="next"` ' +
      '(RFC 8288): follow that URL unchanged until a response has none. Pages never repeat a pet, and never skip one that was ' +
      'listed when the first page was requested. A new pet is listed within moments.',
    method: 'GET',
    path: PETS,
    request: v.object({ query: ListPetsQuery }),
    success: {
      status: 200,
      description: 'A page of pets. There are more while it has a `Link` with `rel="next"`.',
      schema: v.pipe(v.array(Pet), v.maxLength(PAGE.maximum)),
      headers: { NextPage: 'sometimes' },
    },
    errors: {
      invalid_request: `limit must be an integer from ${PAGE.minimum} to ${PAGE.maximum}, given once; status must be one of ${PetStatus.options.join(', ')}, given once.`,
    },
  },
  createPet: {
    id: 'createPet',
    summary: 'Add an animal',
    description:
      'Adds a pet and assigns its `id`.\n\nA response can get lost, so send each create with an `Idempotency-Key` of its own, for ' +
      'example a random UUID, and retry it with the same key and body after a 408, a 429, a 5xx, a timeout or a lost connection: for ' +
      `${IDEMPOTENCY_HOURS} hours one key is one pet, and every retry gets the same response. Wait for \`Retry-After\` seconds if ` +
      'given, otherwise with exponential backoff and jitter.\n\nThe media type may also be any `application` type ' +
      'ending in `+json`, or be omitted. The body is in UTF-8, without a `Content-Encoding`, and has at most ' +
      `${MAX_BODY_BYTES / 1_024} KiB. Members that are not listed here are ignored.`,
    method: 'POST',
    path: PETS,
    request: v.object({
      headers: v.object({ 'Idempotency-Key': v.exactOptional(IdempotencyKey) }),
      body: NewPet,
    }),
    success: {
      status: 201,
      description: 'The pet, with its `id`.',
      schema: Pet,
      headers: { Location: 'always' },
      links: { GetPet: { operationId: 'getPet', parameters: { petId: '$response.body#/id' } } },
    },
    errors: {
      invalid_request: `name is required; categoryId must be an integer from ${INT64.minimum} to ${INT64.maximum}.`,
      request_too_large: `The body may have at most ${MAX_BODY_BYTES} bytes.`,
      unsupported_media_type: true,
      idempotency_key_reused: true,
    },
  },
  getPet: {
    id: 'getPet',
    summary: 'Get an animal',
    description: 'Returns one pet by its `id`. The read is strongly consistent: a new pet is found at once.',
    method: 'GET',
    path: `${PETS}/{petId}`,
    request: v.object({ path: v.object({ petId: PetIdParameter }) }),
    success: { status: 200, description: 'The pet.', schema: Pet },
    errors: { not_found: 'There is no pet with the id 244141843387958.' },
    deprecation: {
      since: new Date('2026-11-21T00:00:00Z'),
      sunset: new Date('2030-12-05T00:00:00Z'),
      successor: PETS,
      advice: 'Use `GET /pets` with the `status` filter instead.',
    },
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;
