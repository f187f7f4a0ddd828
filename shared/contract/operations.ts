import * as v from 'valibot';
import type { ErrorCode } from './errors.ts';
import { IDEMPOTENCY_HOURS, INT64, MAX_BODY_BYTES, PAGE } from './limits.ts';
import { ListPetsQuery } from './list-query.ts';
import { IdempotencyKey, NewPet, Pet, PetIdParameter, PetStatus } from './schemas.ts';

/** Definition from which the route, validation, response and OpenAPI document of an operation are derived. */
export interface Operation {
  id: string;
  summary: string;
  description: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path after the host and stage. Parameters are written as `{name}`. */
  path: `/v1/${string}`;
  request: v.GenericSchema<unknown, object> & { entries: RequestParts };
  success: {
    status: 200 | 201 | 204;
    description: string;
    /** Schema of the response body. @default - no body */
    schema?: v.GenericSchema;
    /** Additional response headers by their keys in the OpenAPI document. Each value states when the header is present. */
    headers?: Partial<Record<'NextPage' | 'Location', 'always' | 'sometimes'>>;
    /** Operations that accept a value from the response as a parameter (OpenAPI "Link Object"). */
    links?: Record<string, { operationId: string; parameters: Record<string, string> }>;
  };
  /** Additional errors of this operation. Each value is an example `message`, or true for the message in the catalog. */
  errors: Partial<Record<ErrorCode, string | true>>;
  deprecation?: Deprecation;
}

export interface RequestParts {
  path?: v.GenericSchema;
  query?: v.GenericSchema;
  /** Schema with an entry for each header. Headers without an entry are ignored. */
  headers?: v.GenericSchema & { entries: Record<string, v.GenericSchema> };
  body?: v.GenericSchema;
}

/** Deprecation of an operation (RFC 9745) and its removal date (RFC 8594). */
export interface Deprecation {
  since: Date;
  sunset: Date;
  /** Path of the replacement (`rel="successor-version"`, RFC 5829). */
  successor: `/v1/${string}`;
  /** Migration advice in Markdown. */
  advice: string;
}

const PETS = '/v1/pets';

export const operations = {
  listPets: {
    id: 'listPets',
    summary: 'List pets',
    description:
      'Returns a page of up to `limit` pets, newest first. If there are more pets, the response has a `Link` header (RFC 8288) ' +
      'with `rel="next"` and the URL of the next page. Request this URL unchanged. The last page has no `Link` header.\n\n' +
      'Pages never repeat a pet and never skip a pet that was listed when the first page was requested. ' +
      'A new pet appears in lists shortly after it is added.',
    method: 'GET',
    path: PETS,
    request: v.object({ query: ListPetsQuery }),
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
    path: PETS,
    request: v.object({
      headers: v.object({ 'Idempotency-Key': v.exactOptional(IdempotencyKey) }),
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
    path: `${PETS}/{petId}`,
    request: v.object({ path: v.object({ petId: PetIdParameter }) }),
    success: { status: 200, description: 'The pet.', schema: Pet },
    errors: { not_found: 'No pet has the id 244141843387958.' },
    deprecation: {
      since: new Date('2026-11-21T00:00:00Z'),
      sunset: new Date('2030-12-05T00:00:00Z'),
      successor: PETS,
      advice: 'Use `GET /pets` with the `status` filter instead.',
    },
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

/** The operation that lists the resource. It needs no parameters. */
export const listOperation: Operation = operations.listPets;
