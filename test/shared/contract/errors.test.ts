import { describe, expect, test } from '@jest/globals';
import { ApiError, errorBody, errorCatalogue, errorCodes } from '../../../shared/contract/errors.ts';

describe('the Error body', () => {
  test.each(errorCodes)('of %s has code, message and status, in this order', (code) => {
    const { status } = errorCatalogue[code];
    expect(status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(errorBody(code, 'Why.'))).toBe(
      `{"code":"${code}","message":"Why.","status":${status}}`,
    );
  });

  test('has the message of the catalogue where nothing more is known', () => {
    expect(errorBody('not_found')).toEqual({
      code: 'not_found',
      message: 'There is nothing at this address.',
      status: 404,
    });
  });

  test('names the request in the message of a 5xx alone', () => {
    expect(errorBody('internal_error', 'Why.', 'one').message).toBe('Why. Request id: one');
    expect(errorBody('invalid_request', 'Why.', 'one').message).toBe('Why.');
  });
});

describe('an error', () => {
  test('has a status that no other has: the OpenAPI document lists responses by status', () => {
    const statuses = errorCodes.map((code) => errorCatalogue[code].status);
    expect(statuses.filter((status, index) => statuses.indexOf(status) !== index)).toEqual([]);
  });

  test('asks for a wait of whole seconds, if for one', () => {
    const waits = errorCodes.map((code) => errorCatalogue[code].retryAfterSeconds ?? 1);
    expect(waits.filter((seconds) => !Number.isInteger(seconds) || seconds < 1)).toEqual([]);
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
