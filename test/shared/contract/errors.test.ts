import { describe, expect, test } from '@jest/globals';
import { errorBody, errorCatalogue, errorCodes } from '../../../shared/contract/errors.ts';

describe('the Error body', () => {
  test('has the message of the catalogue where nothing more is known', () => {
    expect(errorBody('not_found')).toEqual({
      code: 'not_found',
      message: 'There is nothing at this address.',
      status: 404,
    });
  });

  test('names the request in the message of a 5xx alone', () => {
    expect(errorBody('internal_error', 'Why.', 'one').message).toBe('Why. Request id: one');
    expect(errorBody('internal_error', 'Why.').message).toBe('Why.');
    expect(errorBody('invalid_request', 'Why.', 'one').message).toBe('Why.');
  });
});

test('no two errors have one status: the OpenAPI document lists responses by status', () => {
  const statuses = errorCodes.map((code) => errorCatalogue[code].status);
  expect(new Set(statuses).size).toBe(statuses.length);
});
