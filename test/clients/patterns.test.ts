import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { hasTools, requireTool } from '../support/tools.ts';
import { published, texts } from './patterns.ts';

// Generated clients and servers compile the patterns in openapi.json. These tests compile the patterns in JavaScript
// and in RE2, and patterns.proof.ts compiles them in other languages.

test('openapi.json has patterns only for parameters, which the tests below compare with the service', () => {
  const patterns = readFileSync('openapi.json', 'utf8').match(/"pattern": "/g)!;
  expect(patterns).toHaveLength(published.length);
});

describe.each(published)('the pattern of $name', ({ name, pattern, accepted }) => {
  test.each(['', 'u', 'v'])(
    'matches what the service accepts, in JavaScript with the flags "%s"',
    (flags) => {
      expectSame(new RegExp(pattern, flags));
    },
  );

  (hasTools() ? test : test.skip)(
    'matches what the service accepts, in RE2 (needs npm ci --prefix test/tools)',
    () => {
      const compiled = requireTool('re2js').RE2JS.compile(pattern);
      expectSame({ test: (text: string) => compiled.matcher(text).find() });
    },
  );

  function expectSame(compiled: { test: (text: string) => boolean }): void {
    const matched = texts.flatMap((text, index) => (compiled.test(text) ? [index] : []));
    expect({ name, matched }).toEqual({ name, matched: accepted });
  }
});
