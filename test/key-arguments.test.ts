import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeBlocksIn } from './support/markdown-code.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

// All users of a machine can see the arguments of its processes, so API keys must not be arguments.

const curl = fakeCurl(temporaryFolder());

const script = `
aws() { case $* in *EnableTerminationProtection*) echo False ;; *) echo aws ;; esac; }
npm() { echo the-key; }
sleep() { command sleep 0.01; }
export -f aws npm sleep
bash docs/runbook/undocumented.sh
. docs/runbook/queries.sh
. docs/runbook/runbook.sh
API_KEY=the-key
. docs/runbook/drill.sh
drill_requests /drill
until grep -q /drill '${curl.argumentsFile}'; do sleep 1; done
kill "$LOOP"`;

test('the scripts in docs/runbook pass API keys to curl, but not as arguments', () => {
  const settings = { STAGE: 'staging', AWS_REGION: 'eu-west-1', LIST_PATH: '/list', LIST_FUNCTION: 'List' };
  const { stderr } = spawnSync('bash', ['-c', script], {
    env: { ...curl.environment, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  expect(stderr).not.toMatch(/command not found|No such file/);
  const called = readFileSync(curl.argumentsFile, 'utf8');
  for (const path of ['/list', '/none', '/drill']) expect(called).toContain(`aws${path}`);
  expect(called).not.toMatch(/Bearer|the-key/);
  const sent = readFileSync(curl.headersFile, 'utf8');
  expect(sent).toMatch(/^Authorization: Bearer the-key$/m);
  expect(sent).toMatch(/^Authorization: Bearer pets_staging_made_up$/m);
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
