import { expect, test } from '@jest/globals';
import { errorBody, errorCatalog, errorCodes } from '../../../shared/contract/errors.ts';

test('the message of a 5xx mentions no request id if there is none', () => {
  expect(errorBody('internal_error', 'Why.').message).toBe('Why.');
});

test('each error has a unique status, because the OpenAPI document lists responses by status', () => {
  const statuses = errorCodes.map((code) => errorCatalog[code].status);
  expect(new Set(statuses).size).toBe(statuses.length);
});
