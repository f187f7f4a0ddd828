import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { published, texts } from './patterns.ts';

// Generated clients and servers compile the patterns in openapi.json. These tests compile the patterns in JavaScript, and
// patterns.proof.ts compiles them in other languages.

test('openapi.json has patterns only for parameters, which the tests below compare with the service', () => {
  const patterns = readFileSync('openapi.json', 'utf8').match(/"pattern": "/g)!;
  expect(patterns).toHaveLength(published.length);
});

describe.each(published)('the pattern of $name', ({ pattern, accepted }) => {
  test.each(['', 'u', 'v'])('matches what the service accepts, with the flags "%s"', (flags) => {
    const compiled = new RegExp(pattern, flags);
    expect(texts.flatMap((text, index) => (compiled.test(text) ? [index] : []))).toEqual(accepted);
  });
});
