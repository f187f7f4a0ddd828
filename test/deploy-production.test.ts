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

/**
 * Stub of aws, node and npx. The deployment of production lasts until the update is canceled or the probe with
 * `--for 50m` has run without failing. This probe then waits until it is killed.
 */
const stub = `#!/bin/bash
command="\${0##*/} $*"
[[ $command != *50m ]] || until [[ -s deployment ]]; do sleep 0.01; done
echo "$command" >> calls
case $command in
  *describe-alarms*) printf "$ALARMS" ;;
  *list-stack-resources*) echo group1 group2 ;;
  *deployment-group-name?group2*) echo d-2 ;;
  *cancel-update-stack*)
    touch finished
    while kill -0 "$(< deployment)" 2> /dev/null; do sleep 0.01; done
    exit $CANCELED ;;
  npx*-production*)
    echo $PPID > deployment
    until [[ -e finished ]]; do sleep 0.01; done
    exit "$DEPLOYED" ;;
  node*epochs*) exit "$EPOCHS" ;;
  node*)
    [[ $(grep -c ^node.*smoke calls) != "$FAILING" ]] || exit 1
    [[ $command != *50m ]] || { touch finished; while :; do sleep 0.01; done; } ;;
esac
`;

/** Runs `deploy-production.sh` with stubs of aws, node and npx, which read `faults` as environment variables. */
async function run(faults: object) {
  const cwd = mkdtempSync(join(parent, 'run-'));
  for (const name of ['aws', 'node', 'npx']) writeFileSync(join(cwd, name), stub, { mode: 0o755 });
  const defaults = { ALARMS: 'arn:1\\tarn:2\\n', FAILING: '', EPOCHS: '0', DEPLOYED: '0', CANCELED: '0' };
  const env = { ...defaults, ...faults, PATH: `${cwd}:${process.env['PATH']}` };
  const { code, stderr } = await outcomeOf(promisify(execFile)(script, { cwd, env }));
  return { code, stderr, calls: readFileSync(join(cwd, 'calls'), 'utf8') };
}

const started = 'smoke account production 50m';
const canceled = `${started} cancel-update-stack stop-deployment`;
test.each([
  ['passes', {}, 0, /^$/, `${started} 1m`],
  ['fails', { DEPLOYED: '1' }, 1, /^$/, started],
  ['would change the past', { EPOCHS: '1' }, 1, /Nothing was deployed/, ''],
  ['is the first', { ALARMS: '' }, 1, /First deploy/, ''],
  ['follows a failed probe', { FAILING: '1' }, 1, /nothing was deployed/, 'smoke'],
  ['fails the probe', { FAILING: '2', DEPLOYED: '1' }, 1, /was canceled/, canceled],
  ['ends before its cancellation', { FAILING: '2', CANCELED: '254' }, 1, /"Rollback by hand"/, canceled],
  ['fails the last probe', { FAILING: '3' }, 1, /"Rollback by hand"/, `${started} 1m`],
])(
  'if a deployment %s, deploy-production.sh runs the expected steps and prints the expected error',
  async (_, faults, code, message, expected) => {
    const { calls, ...outcome } = await run(faults);
    expect(outcome).toEqual({ code, stderr: expect.stringMatching(message) });
    const steps =
      /(?<=cdk deploy \w+-)\w+|cancel-update-stack|stop-deployment|1m|50m|smoke(?=.*read-only$)/gm;
    expect((calls.match(steps) ?? []).join(' ')).toBe(expected);
  },
);

test('the API and firewall alarms that roll back canaries also roll back the deployment of production', async () => {
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
