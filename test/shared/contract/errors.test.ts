import { expect, test } from '@jest/globals';
import { errorBody, errorCatalogue, errorCodes } from '../../../shared/contract/errors.ts';

test('the Error body has a message of its own or that of the catalogue; a 5xx names the request', () => {
  const message = 'There is nothing at this address.';
  expect(errorBody('not_found')).toEqual({ code: 'not_found', message, status: 404 });
  expect(errorBody('internal_error', 'Why.', 'one').message).toBe('Why. Request id: one');
  expect(errorBody('internal_error', 'Why.').message).toBe('Why.');
  expect(errorBody('invalid_request', 'Why.', 'one').message).toBe('Why.');
});

test('no two errors have one status: the OpenAPI document lists responses by status', () => {
  const statuses = errorCodes.map((code) => errorCatalogue[code].status);
  expect(new Set(statuses).size).toBe(statuses.length);
});
