import { expect, test } from '@jest/globals';
import { limitTables } from './partitions.ts';

// Queries of 1, 2, 4 and 16 partitions read 101, 74, 43 and 16 pets of 165 bytes, at 0.5 units per 4 KB.
test('the read units of a long list grow more slowly than the number of partitions', () => {
  expect(limitTables()).toContain('| 100 pets | 2.5 | 3 | 4 | 8 |');
});
