import { describe, expect, test } from '@jest/globals';
import {
  ApiError,
  errorBody,
  errorCatalogue,
  type ErrorCode,
  retryAfterSeconds,
} from '../../../shared/contract/errors.ts';

const promised: [ErrorCode, number][] = [
  ['invalid_request', 400],
  ['unauthorized', 401],
  ['forbidden', 403],
  ['not_found', 404],
  ['method_not_allowed', 405],
  ['request_too_large', 413],
  ['unsupported_media_type', 415],
  ['idempotency_key_reused', 422],
  ['too_many_requests', 429],
  ['internal_error', 500],
  ['service_unavailable', 503],
  ['gateway_timeout', 504],
];

describe('the Error body', () => {
  test.each(promised)('of %s has code, message and the status %i, in this order', (code, status) => {
    expect(JSON.stringify(errorBody(code, 'Why.'))).toBe(
      `{"code":"${code}","message":"Why.","status":${status}}`,
    );
  });

  test('has no code beside those promised', () => {
    expect(errorCatalogue).toEqual(Object.fromEntries(promised));
  });
});

describe('Retry-After', () => {
  test('comes with 429 and 503 and with nothing else, in whole seconds', () => {
    expect(Object.keys(retryAfterSeconds).toSorted()).toEqual(['service_unavailable', 'too_many_requests']);
    for (const seconds of Object.values(retryAfterSeconds)) {
      expect(Number.isInteger(seconds) && seconds > 0).toBe(true);
    }
  });
});

describe('an ApiError', () => {
  test('keeps its cause apart from the message for the client', () => {
    const cause = new Error('inner workings');
    const error = new ApiError('internal_error', 'Something went wrong.', { cause });
    expect(error).toMatchObject({
      name: 'ApiError',
      code: 'internal_error',
      message: 'Something went wrong.',
    });
    expect(error.cause).toBe(cause);
  });
});
