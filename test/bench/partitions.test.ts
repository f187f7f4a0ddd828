import { expect, test } from '@jest/globals';
import { limitTables } from './partitions.ts';

// At 8 ms per request, an environment could serve 125. https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
test('Lambda is assumed to serve up to 10 requests per second per environment, however short they are', () => {
  const row = "| Lambda's account quota | 10,000 | 10,000 | 10,000 | 10,000 |";
  expect(limitTables().match(/^\| Lambda's .*$/gm)).toEqual([row, row]);
});

// 101, 74, 43 and 16 pets of 165 bytes from each partition, at half a unit per started 4 KB.
test('the read units of a long list grow more slowly than the number of partitions', () => {
  expect(limitTables()).toContain('| 100 pets | 2.5 | 3 | 4 | 8 |');
});
