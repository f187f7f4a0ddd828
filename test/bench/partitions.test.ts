import { expect, test } from '@jest/globals';
import { limitTables } from './partitions.ts';

// At 8 ms per request, an environment could serve 125 requests per second, but Lambda's quota allows only 10.
// https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
test('the Lambda limit assumes 10 requests per second for each execution environment', () => {
  const row = "| Lambda's account quota | 10,000 | 10,000 | 10,000 | 10,000 |";
  expect(limitTables().match(/^\| Lambda's .*$/gm)).toEqual([row, row]);
});

// Queries of 1, 2, 4 and 16 partitions read 101, 74, 43 and 16 pets of 165 bytes, at 0.5 units per 4 KB.
test('the read units of a long list grow more slowly than the number of partitions', () => {
  expect(limitTables()).toContain('| 100 pets | 2.5 | 3 | 4 | 8 |');
});
