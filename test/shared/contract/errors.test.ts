import { expect, test } from '@jest/globals';
import { errorBody, errorCatalog, errorCodes } from '../../../shared/contract/errors.ts';

// This is the only test of these texts. Other tests expect the code.
test('each code has the status and the message that clients read', () => {
  const entries = errorCodes.map((code) => [code, [errorCatalog[code].status, errorCatalog[code].message]]);
  expect(Object.fromEntries(entries)).toEqual({
    invalid_request: [400, 'The request is not valid HTTP.'],
    unauthorized: [401, 'A valid API key is required. Send it as Authorization: Bearer <API_KEY>.'],
    forbidden: [
      403,
      'The firewall rejected the request. If the request is valid, ask the operator of the service.',
    ],
    not_found: [404, 'This URL does not exist. The base URL ends with /v1.'],
    method_not_allowed: [405, 'This URL does not support this method.'],
    request_too_large: [413, 'The body must not exceed 65536 bytes.'],
    unsupported_media_type: [
      415,
      'Content-Type must be application/json or omitted, and Content-Encoding must be identity or omitted.',
    ],
    idempotency_key_reused: [
      422,
      'This Idempotency-Key was already used with a different body. To retry, send the first body unchanged. For another request, use a new key.',
    ],
    too_many_requests: [
      429,
      'Too many requests. Wait the number of seconds in the Retry-After header, then retry.',
    ],
    internal_error: [500, 'An internal error occurred.'],
    service_unavailable: [503, 'The service is temporarily unavailable.'],
    gateway_timeout: [504, 'The service did not respond in time.'],
  });
});

test('the message of a 5xx mentions no request id if there is none', () => {
  expect(errorBody('internal_error', 'Why.').message).toBe('Why.');
});
