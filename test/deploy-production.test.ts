import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { outcomeOf } from './support/run-command.ts';
import { readableTemplate, resourcesOf } from './support/stack-template.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const script = resolve('.github/deploy-production.sh');
const parent = temporaryFolder();

/** Stub of each command. The deployment ends after the second probe or a cancellation, which wait for its end. */
const stub = `#!/bin/bash
echo "\${0##*/} $*" >> calls
finish() {
  touch finished
  until [[ -s deployment ]]; do sleep 0.01; done
  while kill -0 "$(< deployment)" 2> /dev/null; do sleep 0.01; done
}
case "\${0##*/} $*" in
  *describe-stacks*) [[ ! $FIRST ]] || { echo 'The stack does not exist' >&2; exit 254; } ;;
  *describe-alarms*) printf 'arn:1\\tarn:2\\n' ;;
  *list-stack-resources*) echo group1 group2 ;;
  *deployment-group-name?group2*) echo d-2 ;;
  *cancel-update-stack*) finish; exit $CANCELED ;;
  *PetStore-production*)
    echo $PPID > deployment
    until [[ $FIRST || -e finished ]]; do sleep 0.01; done
    exit "$DEPLOYED" ;;
  npm*)
    probes=$(grep -c ^npm calls)
    [[ $probes != "$FAILING" ]] || exit 1
    [[ $probes != 2 ]] || finish ;;
esac
`;

/** Runs the script with stubs of the commands that it calls. */
async function run(faults: object) {
  const cwd = mkdtempSync(join(parent, 'run-'));
  for (const name of ['aws', 'npm', 'npx']) writeFileSync(join(cwd, name), stub, { mode: 0o755 });
  const env = { FAILING: '', DEPLOYED: '0', ...faults, PATH: `${cwd}:${process.env['PATH']}` };
  const { code, stderr } = await outcomeOf(promisify(execFile)(script, { cwd, env }));
  return { code, stderr, calls: readFileSync(join(cwd, 'calls'), 'utf8') };
}

test.each([
  ['passes', {}, 0, /^$/, 'account production smoke smoke smoke'],
  ['is the first', { FIRST: 'true' }, 0, /^$/, 'account production smoke'],
  ['fails', { DEPLOYED: '1' }, 1, /^$/, 'account production smoke smoke'],
  ['follows a failed probe', { FAILING: '1' }, 1, /nothing was deployed/, 'account smoke'],
  [
    'fails the probe',
    { FAILING: '2', DEPLOYED: '1' },
    1,
    /"Stop a deployment"/,
    'account cancel production smoke smoke stop-deployment --deployment-id d-2',
  ],
  [
    'ends before its cancellation',
    { FAILING: '2', CANCELED: '254' },
    1,
    /"Rollback by hand"/,
    'account cancel production smoke smoke stop-deployment --deployment-id d-2',
  ],
  ['fails the last probe', { FAILING: '3' }, 1, /"Rollback by hand"/, 'account production smoke smoke smoke'],
])('a deployment of production that %s', async (_case, faults, code, message, expected) => {
  const { calls, ...outcome } = await run(faults);
  expect(outcome).toEqual({ code, stderr: expect.stringMatching(message) });
  // The second probe starts at the same time as the deployment.
  expect(
    calls
      .match(/(?<=deploy PetStore-)\w+|cancel|smoke|stop-deployment --deployment-id d-2/g)!
      .toSorted()
      .join(' '),
  ).toBe(expected);
});

test('a deployment of production rolls back if an alarm fires that also rolls back its canaries', async () => {
  const options =
    '--rollback-trigger-alarm-arns arn:1 --rollback-trigger-alarm-arns arn:2 --monitoring-time-minutes 5';
  expect((await run({})).calls).toContain(options);
  const groups = resourcesOf(readableTemplate('production'), 'AWS::CodeDeploy::DeploymentGroup');
  const alarms = groups.flatMap(([, { Properties }]) =>
    JSON.stringify(Properties['AlarmConfiguration']).match(/(?<=Monitoring)(?:Api|Firewall)\w+/g)!,
  );
  const names = readFileSync(script, 'utf8').matchAll(/contains\(AlarmName, '(\w+)'\)/g);
  expect(new Set(Array.from(names, ([, name]) => name))).toEqual(new Set(alarms));
});
