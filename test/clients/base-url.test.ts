import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { blockWith } from '../support/markdown-code.ts';

test('the command in docs/clients.md reads the base URL and the key from standard input', () => {
  const command = blockWith('stty -echo', readFileSync('docs/clients.md', 'utf8'));
  // A stub replaces stty, because stty needs a terminal.
  const program = `stty() { :; }\n${command}\nenv`;
  const printed = execFileSync('sh', ['-c', program], { input: 'http://a/v1\nsecret\n', encoding: 'utf8' });
  expect(printed.split('\n')).toEqual(expect.arrayContaining(['BASE_URL=http://a/v1', 'API_KEY=secret']));
});
