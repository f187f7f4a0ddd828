import { expect, test } from '@jest/globals';
import { MAX_BODY_BYTES, MAX_NAME_CHARACTERS, PAGE } from '../../shared/contract/limits.ts';
import { limits } from './json.ts';

test("the fuzzer's own limits are those of the contract", () => {
  const hint = 'The contract has different limits. Fix: change `limits` in test/fuzz/json.ts';
  expect({ [hint]: limits }).toEqual({ [hint]: { MAX_BODY_BYTES, MAX_NAME_CHARACTERS, PAGE } });
});
