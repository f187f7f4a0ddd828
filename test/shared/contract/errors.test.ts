import { expect, test } from '@jest/globals';
import { errorBody, errorCatalogue, errorCodes } from '../../../shared/contract/errors.ts';

test('errorBody adds the request id only to the message of a 5xx', () => {
  const message = 'This URL does not exist.';
  expect(errorBody('not_found')).toEqual({ code: 'not_found', message, status: 404 });
  expect(errorBody('internal_error', 'Why.', 'one').message).toBe('Why. Request id: one');
  expect(errorBody('internal_error', 'Why.').message).toBe('Why.');
  expect(errorBody('invalid_request', 'Why.', 'one').message).toBe('Why.');
});

test('each error has a unique status, because the OpenAPI document lists responses by status', () => {
  const statuses = errorCodes.map((code) => errorCatalogue[code].status);
  expect(new Set(statuses).size).toBe(statuses.length);
});
