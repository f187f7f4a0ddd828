import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { useServiceBehindProxy } from '../../../support/client-proxy.ts';
import { commandEnvironment, errorOutput, runModule } from '../../../support/run-command.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { templateWith } from './fake-stage.ts';

const command = 'infra/operate/deploy/main.ts';
const folder = temporaryFolder();
const { service } = await useServiceBehindProxy();

/** Stub of the AWS CLI. It responds like a stage with the function `add`, and records its calls in the file `calls`. */
const awsStub = `#!/bin/bash
echo "$1 $2 $4" >> calls
case $2 in
  describe-stacks)
    if [[ -n $NO_STACK ]]; then
      touch canceled
      echo 'An error occurred (ValidationError): Stack with id PetStore-production does not exist' >&2
      exit 254
    fi
    echo '{"Stacks":[{"StackStatus":"UPDATE_COMPLETE","Parameters":[{"ParameterKey":"AddBookLiveVersion","ParameterValue":"7"}],
      "Outputs":[{"OutputKey":"BaseUrl","OutputValue":"'$BASE'"}]}]}' ;;
  list-stack-resources) echo '{"StackResourceSummaries":[{"LogicalResourceId":"AddBookLive12345678",
    "PhysicalResourceId":"arn:aws:lambda:eu-central-1:123456789012:function:add:live"}]}' ;;
  get-template) echo '{"TemplateBody":'$(< template.json)'}' ;;
  get-alias) echo '{"FunctionVersion":"8"}' ;;
  detect-stack-drift) echo '{"StackDriftDetectionId":"id"}' ;;
  describe-stack-drift-detection-status) echo '{"DetectionStatus":"DETECTION_COMPLETE"}' ;;
  describe-stack-resource-drifts) echo '{"StackResourceDrifts":[]}' ;;
  describe-alarms) echo '{"MetricAlarms":[]}' ;;
  get-function-configuration) echo '{}' ;;
  cancel-update-stack) touch canceled ;;
  update-alias) ;;
  *) echo 'An error occurred (AccessDeniedException) when calling an operation' >&2; exit 254 ;;
esac
`;

/** Stub of the command `node` that runs the CDK. The update of the stage lasts until it is canceled or Ctrl-C reaches the process. */
const nodeStub = `#!/bin/bash
echo "node $*" >> calls
echo "$API_KEY" >> keys
[[ $* == *PetStore-production* ]] || exit 0
trap 'echo interrupted >> calls; exit 1' INT
touch started
until [[ -e canceled ]]; do sleep 0.01; done
[[ -n $NO_STACK ]]
`;

/** Creates a folder with the stubs and an assembly. */
function createFolder() {
  const cwd = mkdtempSync(join(folder, 'run-'));
  for (const [name, stub] of Object.entries({ aws: awsStub, node: nodeStub }))
    writeFileSync(join(cwd, name), stub.replace('\n', `\ncd '${cwd}'\n`), { mode: 0o755 });
  const assembly = join(cwd, 'cdk.out');
  mkdirSync(assembly);
  const { Resources, Outputs } = templateWith();
  const template = Object.entries(Resources).filter(([id]) => id.startsWith('AddBook'));
  const content = JSON.stringify({ Resources: Object.fromEntries(template), Outputs });
  writeFileSync(join(assembly, 'PetStore-production.template.json'), content);
  writeFileSync(join(cwd, 'template.json'), content);
  const environment = {
    AWS_REGION: 'eu-central-1',
    BASE: service.baseUrl,
    API_KEY: service.apiKey,
    PATH: `${cwd}:${process.env['PATH']}`,
  };
  return { cwd, assembly, environment, callsIn: (name: string) => readFileSync(join(cwd, name), 'utf8') };
}

test('--back needs only the AWS CLI to point the alias to the recorded version', async () => {
  const { environment, callsIn } = createFolder();
  const { code, stdout } = await runModule(command, ['--stage', 'production', '--back'], environment);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^add: live points to version 7 instead of 8\.\nRevert the commit /),
  });
  expect(callsIn('calls')).toContain(
    'lambda update-alias {"FunctionName":"add","Name":"live","FunctionVersion":"7","RoutingConfig":{"AdditionalVersionWeights":{}}}\n',
  );
});

test('the first deployment needs no API key', async () => {
  const { assembly, environment, callsIn } = createFolder();
  const parameters = ['--stage', 'production', '--assembly', assembly];
  const settings = { ...environment, API_KEY: '', NO_STACK: 'yes' };
  const { code, stdout } = await runModule(command, parameters, settings);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'There is no stack PetStore-production yet, so there is no canary.\n',
  });
  expect(callsIn('calls')).toMatch(/cdk deploy PetStore-account .*\n.*cdk deploy PetStore-production /);
});

test('Ctrl-C during the update cancels the update, but does not end the CDK', async () => {
  const { cwd, assembly, environment, callsIn } = createFolder();
  const parameters = [command, '--stage', 'production', '--assembly', assembly, '--ignore-changes'];
  const running = spawn(process.execPath, parameters, {
    env: commandEnvironment(environment),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const printed = text(running.stderr);
  while (!existsSync(join(cwd, 'started'))) await setTimeout(10);
  // Like Ctrl-C in a terminal, this sends the signal to all processes of the group.
  process.kill(-running.pid!, 'SIGINT');
  const [code] = await once(running, 'exit');
  const stderr = await printed;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      'The deployment was interrupted.\nThe stack was not changed.\nThe functions have their old versions.\n',
  });
  expect(callsIn('calls')).toContain('cloudformation cancel-update-stack ');
  expect(callsIn('calls')).not.toContain('interrupted');
  // The CDK needs no API key, so the command does not pass on the operator's key.
  expect(callsIn('keys').trim()).toBe('');
});

test.each<[string[], Record<string, string>, RegExp]>([
  [[], {}, /^--stage is missing\. Use a stage of infra\/stages\.ts, such as staging\.$/],
  [
    ['--stage', 'Staging'],
    { AWS_REGION: '' },
    /^--stage must be a stage of infra\/stages\.ts \(staging, .*\) or another deployed stage, whose name must be 1 to 30 lowercase letters, but not 'account' or 'local'\.$/,
  ],
  [
    ['--stage', 'none'],
    { AWS_REGION: '' },
    /^infra\/stages\.ts contains no stage none\. Choose one of its stages: staging, /,
  ],
  [['--stage', 'production'], { AWS_REGION: '' }, /^Set AWS_REGION to the region of the stage\.$/],
  [['--stage', 'production', '--sha256', '00'], {}, /^--sha256 requires --assembly\.$/],
  [
    ['--stage', 'production', '--back', '--all-at-once'],
    {},
    /^--back cannot be combined with --all-at-once\.$/,
  ],
  [['--stage', 'production', '--if-unfinished'], {}, /^--if-unfinished requires --back\.$/],
  [
    ['--stage', 'jane', '--based-on', 'staging', '--assembly', 'cdk.out'],
    {},
    /^--based-on and --assembly cannot /,
  ],
  [['--stage', 'none'], {}, /contains no stage none\. Choose one of its stages: /],
  [['--stage', 'jane', '--based-on', 'none'], {}, /contains no stage none\. Choose one of its stages: /],
  [
    ['--stage', 'test', '--assembly', 'cdk.out'],
    {},
    /^\S+cdk\.out contains no stack PetStore-test, but PetStore-production\. Correct --stage or --assembly\.$/,
  ],
  [
    ['--stage', 'production', '--assembly', '/nowhere/cdk'],
    {},
    /^The folder \S+cdk does not exist\. Choose a folder with --assembly\.$/,
  ],
  [
    ['--stage', 'production', '--assembly', '/nowhere/cdk', '--sha256', '00'],
    {},
    /^The folder \S+cdk does not exist\. Choose a folder with --assembly\.$/,
  ],
  [
    ['--stage', 'production', '--assembly', 'package.json'],
    {},
    /^\S+package\.json is not a folder\. Choose a folder with --assembly\.$/,
  ],
  [
    ['--stage', 'production', '--assembly', 'docs'],
    {},
    /^\S+docs contains no stacks\. Synthesize with npx cdk synth\.$/,
  ],
  [
    ['--stage', 'production', '--assembly', 'cdk.out', '--sha256', '00'],
    {},
    /^The SHA-256 of \S+cdk\.out is [\da-f]{64}, not 00\. Synthesize again, /,
  ],
  [
    ['--stage', 'production', '--assembly', 'cdk.out', '--ignore-changes'],
    { API_KEY: '' },
    /^Set API_KEY to an API key of the stage production, /,
  ],
])(
  'the arguments %j with the environment variables %j are rejected',
  async (parameters, changed, message) => {
    const { assembly, environment } = createFolder();
    const all = parameters.map((parameter) => (parameter === 'cdk.out' ? assembly : parameter));
    expect(errorOutput(await runModule(command, all, { ...environment, ...changed }))).toMatch(message);
  },
);

test('an added or changed file, even a hidden one, changes the hash of an assembly', async () => {
  const hashes = new Set<string>();
  const { assembly, environment } = createFolder();
  const print = async () => {
    const { stdout } = await runModule('infra/operate/deploy/print-hash.ts', [assembly], environment);
    hashes.add(stdout);
  };
  await print();
  await print();
  expect(hashes.size).toBe(1);
  writeFileSync(join(assembly, 'added'), '');
  await print();
  writeFileSync(join(assembly, 'added'), 'changed');
  await print();
  writeFileSync(join(assembly, '.hidden'), '');
  await print();
  expect(hashes.size).toBe(4);
});
