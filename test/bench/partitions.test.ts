import { expect, test } from '@jest/globals';
import { limitTables } from './partitions.ts';

// 8 ms a request would be 120 a second. https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
test('an execution environment serves 10 requests a second, however short they are', () => {
  const row = "| Lambda's quota of an account | 10,000 | 10,000 | 10,000 | 10,000 |";
  expect(limitTables().match(/^\| Lambda's quota .*$/gm)).toEqual([row, row]);
});
