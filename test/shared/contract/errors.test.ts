import { expect, test } from '@jest/globals';
import { errorCatalogue, errorCodes } from '../../../shared/contract/errors.ts';

test('each error has a unique status, because the OpenAPI document lists responses by status', () => {
  const statuses = errorCodes.map((code) => errorCatalogue[code].status);
  expect(new Set(statuses).size).toBe(statuses.length);
});
