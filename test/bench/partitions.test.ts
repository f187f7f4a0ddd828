import { expect, test } from '@jest/globals';
import { limitTables } from './partitions.ts';

// 8 ms a request would be 120 a second. https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
test('an execution environment serves 10 requests a second, however short they are', () => {
  const row = "| Lambda's quota of an account | 10,000 | 10,000 | 10,000 | 10,000 |";
  expect(limitTables().match(/^\| Lambda's quota .*$/gm)).toEqual([row, row]);
});

// 101, 74, 43 and 16 pets of 165 bytes of each partition, in halves of a unit for each 4 KB.
test('more partitions do not multiply the read units of a long list', () => {
  expect(limitTables()).toContain('| of 100 pets | 2.5 | 3 | 4 | 8 |');
});
