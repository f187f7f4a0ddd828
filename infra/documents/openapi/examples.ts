import type { ErrorCode } from '../../../shared/contract/errors.ts';
import type { operations } from '../../../shared/contract/operations.ts';

// What the OpenAPI document shows as examples: answers that were really given. A test produces each of them again.

type OperationId = keyof typeof operations;

const rex = { id: 244141843387957n, name: 'Rex', categoryId: 7n, status: 'available' };
const mia = { id: 244141843354535n, name: 'Mia', categoryId: 7n, status: 'available' };

/** What is sent to get them. */
export const requestExamples = {
  limit: 2,
  status: 'available',
  cursor: 'MjQ0MTQxODQzMzU0NTM1',
  petId: rex.id,
  'Idempotency-Key': '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
  newPet: { name: 'Rex', categoryId: 7n, status: 'available' },
};

export const successExamples: Record<OperationId, unknown> = {
  listPets: [rex, mia],
  createPet: rex,
  getPet: rex,
};

const int64 = 'an integer from -9223372036854775808 to 9223372036854775807';

/** `message` of each refusal, as most operations give it. */
const messages: Record<ErrorCode, string> = {
  invalid_request: 'The request is not valid HTTP as this service understands it.',
  unauthorized: 'A valid API key is required: Authorization: Bearer <API_KEY>.',
  forbidden: 'The request was refused.',
  not_found: 'There is nothing at this address.',
  method_not_allowed: 'This address takes GET and POST.',
  request_too_large: 'The request is too large.',
  unsupported_media_type: 'The body must be sent as application/json.',
  idempotency_key_reused:
    'This Idempotency-Key was used for another pet: send this one under a key of its own.',
  too_many_requests: 'Too many requests; please slow down.',
  internal_error: 'Something went wrong on our side. Request id: 6dfc4c0a-84b9-489e-ba7c-dd53e488588b',
  service_unavailable:
    'The service cannot answer right now. Request id: 407fc894-750f-42ad-9f8a-7a2266197d54',
  gateway_timeout: 'The service did not answer in time. Request id: 63cb7370-cb77-47fe-b98e-53de44ee3921',
};

const ownMessages: Partial<Record<OperationId, Partial<Record<ErrorCode, string>>>> = {
  listPets: {
    invalid_request:
      'limit must be an integer from 1 to 100, given once; status must be one of available, pending, sold, given once.',
  },
  createPet: {
    invalid_request: `name is required; categoryId must be ${int64}.`,
    request_too_large: 'The body may have at most 65536 bytes.',
  },
  getPet: { not_found: 'There is no pet with the id 244141843387958.' },
};

/** `message` of a refusal, of any operation or of this one. */
export function messageExample(code: ErrorCode, operationId?: string): string {
  return ownMessages[operationId as OperationId]?.[code] ?? messages[code];
}
