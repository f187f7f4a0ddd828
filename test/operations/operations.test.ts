import { expect, test } from '@jest/globals';
import { incomplete, operationIds } from '../support/operation-tests.ts';

// Other tests omit operations whose file is incomplete, so that only this test fails.

test.each(operationIds)('%s has a complete file in test/operations', (id) => {
  expect(incomplete(id)).toBeUndefined();
});
