import { expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { codeBlocksIn } from '../support/markdown-code.ts';

// All users of a machine can see the arguments of its processes, so API keys must not be arguments.

// Blocks of other kinds are not checked, because they are examples for clients. The API reference explains how to hide
// the key in them.
test('the commands for operators in docs pass API keys to curl, but not as arguments', () => {
  const lines = globSync('{*,docs/**/*}.md').flatMap((file) =>
    codeBlocksIn(readFileSync(file, 'utf8'))
      .filter(({ info }) => info === 'sh aws')
      .flatMap(({ code }) => code.replaceAll('\\\n', '').split('\n'))
      .map((line) => `${file}: ${line}`),
  );
  expect(lines.some((line) => line.includes('with_key'))).toBe(true);
  expect(lines.filter((line) => /Bearer|\bcurl\b.*API_KEY/.test(line))).toEqual([]);
});
