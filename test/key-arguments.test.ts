import { expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './support/temporary-folder.ts';

// All users of a machine can see the arguments of its processes.

const folder = temporaryFolder();
const [args, headers] = [join(folder, 'arguments'), join(folder, 'headers')];

/** Replaces curl. It records its arguments, and the headers that it reads from file descriptors and standard input. */
writeFileSync(
  join(folder, 'curl'),
  `#!/usr/bin/env bash
printf '%s\\n' "$*" >> '${args}'
for argument; do
  case $argument in @/*) cat "\${argument#@}" >> '${headers}' ;; esac
done
case $* in *'--config -'*) cat >> '${headers}' ;; esac
`,
);
chmodSync(join(folder, 'curl'), 0o755);

const script = `
aws() { echo aws; }
npm() { echo the-key; }
sleep() { command sleep 0.01; }
. docs/runbook/queries.sh
. docs/runbook/runbook.sh
. docs/runbook/undocumented.sh
. docs/runbook/drill.sh
drill_requests /drill
until grep -q /drill '${args}'; do sleep 1; done
kill "$LOOP"
. docs/clients/pets.sh
pets "$BASE_URL/example"`;

test('the scripts in docs/runbook and docs/clients pass API keys to curl, but not as arguments', () => {
  const settings = { STAGE: 'staging', AWS_REGION: 'eu-west-1', LIST_PATH: '/list', LIST_FUNCTION: 'List' };
  const { stderr } = spawnSync('bash', ['-c', script], {
    env: { ...process.env, ...settings, PATH: `${folder}:${process.env['PATH']}` },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  expect(stderr).not.toMatch(/command not found|No such file/);
  const called = readFileSync(args, 'utf8');
  for (const path of ['/list', '/none', '/drill', '/example']) expect(called).toContain(`aws${path}`);
  expect(called).not.toMatch(/Bearer|the-key/);
  const sent = readFileSync(headers, 'utf8');
  expect(sent).toMatch(/^Authorization: Bearer the-key$/m);
  expect(sent).toMatch(/^Authorization: Bearer pets_staging_made_up$/m);
  expect(sent).toMatch(/^header = "Authorization: Bearer the-key"$/m);
});
