import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeBlocksIn } from './support/markdown-code.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

// All users of a machine can see the arguments of its processes, so API keys must not be arguments.

const curl = fakeCurl(temporaryFolder());

test('with_key in docs/runbook passes the API key to curl, but not as an argument', () => {
  const script = `aws() { echo aws; }
. docs/runbook/runbook.sh
API_KEY=the-key
with_key "$BASE_URL/list"`;
  const { stderr } = spawnSync('bash', ['-c', script], {
    env: { ...curl.environment, STAGE: 'staging', AWS_REGION: 'eu-west-1' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(readFileSync(curl.argumentsFile, 'utf8')).toMatch(/ aws\/list\n$/);
  expect(readFileSync(curl.argumentsFile, 'utf8')).not.toMatch(/Bearer|the-key/);
  expect(readFileSync(curl.headersFile, 'utf8')).toBe('Authorization: Bearer the-key\n');
});

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

/**
 * Writes a replacement of curl to `folder`. The replacement records its arguments, which all users of a machine can see, and
 * the headers that it reads from file descriptors and standard input.
 */
function fakeCurl(folder: string) {
  const [argumentsFile, headersFile] = [join(folder, 'arguments'), join(folder, 'headers')] as const;
  const program = `#!/usr/bin/env bash
printf '%s\\n' "$*" >> '${argumentsFile}'
for argument; do
  case $argument in @/*) cat "\${argument#@}" >> '${headersFile}' ;; esac
done
case $* in *'--config -'*) cat >> '${headersFile}' ;; esac
`;
  writeFileSync(join(folder, 'curl'), program, { mode: 0o755 });
  return {
    argumentsFile,
    headersFile,
    environment: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
  };
}
