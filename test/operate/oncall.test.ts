import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { permits } from '../../infra/local/emulator/template/permissions.ts';
import { pascalCase } from '../../shared/names.ts';
import { statementsOf } from './policies.ts';
import { isInstalled } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const LIST = 'PetStore-production-ListPets0F2A-Qm3x';
const GET = 'PetStore-production-GetPet61B0-vN4h';
const STARTED = '2026-11-21T17:29:08.512000+00:00';

/** Output of the AWS CLI by words of the call, or null if the call fails. */
type Answers = Record<string, string | null>;

/** Answers after a release of ListPets alone. */
const answers = {
  'sts get-caller-identity': '123456789012\tarn:aws:sts::123456789012:assumed-role/Operator/ada',
  'cloudformation describe-stacks': `UPDATE_COMPLETE\t${STARTED}\tNone`,
  'cloudformation list-stack-resources': [
    `AWS::Lambda::Alias\tarn:aws:lambda:eu-central-1:123456789012:function:${LIST}:live`,
    `AWS::Lambda::Alias\tarn:aws:lambda:eu-central-1:123456789012:function:${GET}:live`,
    'AWS::CodeDeploy::Application\tTheApplication',
    'AWS::CodeDeploy::DeploymentGroup\tListGroup',
    'AWS::CodeDeploy::DeploymentGroup\tGetGroup',
    'AWS::ApiGateway::RestApi\tab12',
    'AWS::ApiGateway::Stage\tproduction',
    'AWS::Logs::LogGroup\tTheLog',
  ].join('\n'),
  'cloudwatch describe-alarms': `PetStore-production-MonitoringApiServerErrors5C1F\t${STARTED}\tClients get \u001b[31m5xx`,
  'logs describe-query-definitions': 'PetStore-production/find-request\nPetStore-production/latencies',
  'logs describe-query-definitions find-request queryString':
    '["LogOne","LogTwo"]\tfilter requestId = "PUT-THE-REQUEST-ID-HERE"\n| fields @timestamp',
  'logs describe-query-definitions latencies queryString': '["LogOne"]\tstats count(*)',
  'logs start-query': 'the-query',
  'logs get-query-results --query status': 'Complete',
  'logs get-query-results': '@timestamp=2026-11-21\tuser=\u001b[31meve',
  'deploy list-deployments ListGroup': '',
  'deploy list-deployments GetGroup': '',
  [`lambda get-alias ${LIST}`]: '10\trevision-1\tnull',
  [`lambda get-alias ${GET}`]: '7\trevision-2\tnull',
  // AWS does not document the order of the versions.
  [`lambda list-versions-by-function ${LIST}`]:
    '$LATEST\t2026-11-21T17:31:00.000+0000\n10\t2026-11-21T17:31:00.000+0000\n9\t2026-11-20T08:00:00.000+0000\n2\t2026-11-01T08:00:00.000+0000',
  [`lambda list-versions-by-function ${GET}`]:
    '$LATEST\t2026-11-20T08:00:00.000+0000\n6\t2026-11-01T08:00:00.000+0000\n7\t2026-11-20T08:00:00.000+0000',
  'deploy stop-deployment': '',
  'lambda update-alias': '',
  'apigateway flush-stage-authorizers-cache': '',
};

/** Quotes a text for a shell. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Writes a stand-in for the AWS CLI to `folder`. It appends each call to the file `calls`. */
function writeAws(changes: Answers): void {
  const cases = Object.entries({ ...answers, ...changes })
    .map(([call, answer]) => [call.split(' ').map(quote), answer] as const)
    .toSorted(([one], [other]) => other.length - one.length)
    .map(([words, answer]) => {
      const print = answer === null ? 'exit 1' : `printf %s ${quote(answer && `${answer}\n`)}`;
      return `${words.join('*')}*) ${print} ;;`;
    });
  const log = `printf '%s\\n' "$*" >> ${quote(join(folder, 'calls'))}`;
  const program = ['#!/bin/sh', log, 'case $* in', ...cases, '*) exit 1 ;;', 'esac', ''].join('\n');
  writeFileSync(join(folder, 'aws'), program, { mode: 0o755 });
}

interface Setup {
  /** Answers of the AWS CLI that differ from `answers`. */
  aws?: Answers;
  input?: string;
  settings?: Record<string, string>;
  shell?: string;
}

/** Runs `docs/oncall.sh` with a stand-in for the AWS CLI. */
function run(command: string, { aws = {}, input = 'yes\n', settings = {}, shell = '/bin/sh' }: Setup = {}) {
  writeAws(aws);
  writeFileSync(join(folder, 'calls'), '');
  const { status, stdout, stderr } = spawnSync(shell, ['docs/oncall.sh', ...command.split(' ')], {
    env: {
      PATH: [folder, process.env['PATH']].join(delimiter),
      STAGE: 'production',
      AWS_REGION: 'eu-central-1',
      ...settings,
    },
    input,
    encoding: 'utf8',
  });
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  const changing = calls.filter((call) => /update-alias|stop-deployment|flush/.test(call));
  return { status, stdout, stderr, calls, changing };
}

const flush = 'apigateway flush-stage-authorizers-cache --rest-api-id ab12 --stage-name production';
const pointTo = (name: string, version: number, revision: string) =>
  `lambda update-alias --function-name ${name} --name live --function-version ${version} ` +
  `--routing-config AdditionalVersionWeights={} --revision-id ${revision}`;
const stop = (id: string) => `deploy stop-deployment --deployment-id ${id} --auto-rollback-enabled`;
const stackStatus = (status: string) => ({
  'cloudformation describe-stacks': `${status}\t${STARTED}\tReason\nin two lines`,
});

test('status shows the stack, active alarms, running deployments and versions, without control bytes', () => {
  const aws = {
    'deploy list-deployments GetGroup': 'd-ABC123',
    [`lambda get-alias ${GET}`]: '6\trevision-2\t{"7":0.1}',
  };
  const { status, stdout, stderr, changing } = run('status', { aws });
  expect({ status, stderr, changing }).toEqual({ status: 0, stderr: '', changing: [] });
  expect(stdout).toBe(`Account and identity: ${answers['sts get-caller-identity']}
PetStore-production: UPDATE_COMPLETE, last update began at ${STARTED} (reason: None)
Active alarms:
  PetStore-production-MonitoringApiServerErrors5C1F\t${STARTED}\tClients get [31m5xx
Running deployments:
  d-ABC123 GetGroup
Versions:
  ${LIST}: 10 (2026-11-21T17:31:00.000+0000), before 9 (2026-11-20T08:00:00.000+0000)
  ${GET}: 6 (2026-11-01T08:00:00.000+0000), before - (-), shares {"7":0.1}
`);
});

describe('back', () => {
  test('points only functions with a version of the last update to the version before, and flushes the cache', () => {
    const { status, stdout, changing } = run('back');
    expect([status, changing]).toEqual([0, [pointTo(LIST, 9, 'revision-1'), flush]]);
    expect(stdout).toContain(
      `  ${LIST}: from 10 (2026-11-21T17:31:00.000+0000) to 9 (2026-11-20T08:00:00.000+0000)\n`,
    );
    expect(stdout).not.toContain(GET);
    expect(stdout).toMatch(/Type yes to do this: Done\. /);
  });

  test('stops running deployments instead', () => {
    const running = { 'deploy list-deployments ListGroup': 'd-1', 'deploy list-deployments GetGroup': 'd-2' };
    const { status, stdout, changing } = run('back', {
      aws: { ...stackStatus('UPDATE_IN_PROGRESS'), ...running },
    });
    expect([status, changing]).toEqual([0, [stop('d-1'), stop('d-2'), flush]]);
    expect(stdout).toMatch(
      / d-1: stop the deployment of ListGroup, [^]* CloudFormation rolls back the update\.\n$/,
    );
  });

  test('gives all requests to the live version if a deployment has left them divided', () => {
    const aws = { [`lambda get-alias ${LIST}`]: '9\trevision-1\t{"10":0.1}' };
    expect(run('back', { aws }).changing).toEqual([pointTo(LIST, 9, 'revision-1'), flush]);
  });

  test('also works while CloudFormation deletes what the update has replaced', () => {
    const aws = stackStatus('UPDATE_COMPLETE_CLEANUP_IN_PROGRESS');
    expect(run('back', { aws }).changing).toEqual([pointTo(LIST, 9, 'revision-1'), flush]);
  });

  test.each<[string, Setup, RegExp]>([
    ['the answer is no', { input: 'no\n' }, /^Nothing was changed\.\n$/],
    ['there is no answer', { input: '' }, /^Nothing was changed\.\n$/],
    [
      'no function got a new version in the last update',
      { aws: { 'cloudformation describe-stacks': 'UPDATE_COMPLETE\t2026-11-22T00:00:00.000Z\tNone' } },
      /^Nothing to do: no function got a new version since 2026-11-22T00:00:00\.000Z, /,
    ],
    [
      'an update has not changed functions yet',
      { aws: stackStatus('UPDATE_IN_PROGRESS') },
      / Wait until it has/,
    ],
    [
      'CodeDeploy runs the deployment of a rollback',
      { aws: { ...stackStatus('UPDATE_ROLLBACK_IN_PROGRESS'), 'deploy list-deployments ListGroup': 'd-1' } },
      / Wait until it has/,
    ],
    [
      'an alias cannot be read',
      { aws: { [`lambda get-alias ${GET}`]: null } },
      /so nothing was changed\.\n$/,
    ],
    [
      'the versions of a function cannot be read',
      { aws: { [`lambda list-versions-by-function ${LIST}`]: null } },
      /so nothing was changed\.\n$/,
    ],
    [
      'the live version is not among the versions',
      { aws: { [`lambda list-versions-by-function ${LIST}`]: '$LATEST\t2026-11-21T17:31:00.000+0000' } },
      /so nothing was changed\.\n$/,
    ],
    [
      'the deployments of a function cannot be read',
      { aws: { 'deploy list-deployments GetGroup': null } },
      /so nothing was changed\.\n$/,
    ],
  ])('fails and changes nothing if %s', (_what, setup, message) => {
    const { status, changing, stderr } = run('back', setup);
    expect([status, changing]).toEqual([1, []]);
    expect(stderr).toMatch(message);
  });

  test('fails and names what AWS rejected', () => {
    const aws = { 'lambda update-alias': null, 'apigateway flush-stage-authorizers-cache': null };
    const { status, stderr } = run('back', { aws });
    expect(status).toBe(1);
    expect(stderr).toContain('The cache of the authorizer was not flushed.');
    expect(stderr).toContain(`Failed: ${LIST}. `);
  });
});

describe('query', () => {
  test('runs a query with the given word, over the given time, and prints no control bytes', () => {
    const before = Math.floor(Date.now() / 1_000);
    const { status, stdout, stderr, calls } = run('query find-request 1-a=', { settings: { MINUTES: '5' } });
    const result = '@timestamp=2026-11-21\tuser=[31meve\n';
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: result, stderr: '' });
    const started =
      /start-query --log-group-names \["LogOne","LogTwo"\] --start-time (\d+) --end-time (\d+) (.*)/s;
    const [, start, end, rest] = started.exec(calls.join('\n'))!;
    expect(Number(end) - Number(start)).toBe(300);
    expect(Number(end)).toBeGreaterThanOrEqual(before);
    expect(rest).toMatch(/^--query-string filter requestId = "1-a="\n\| fields @timestamp --query queryId /);
  });

  test('lists the names of the queries, also if there is no query with the name', () => {
    const names = 'find-request\nlatencies\n';
    expect(run('query')).toMatchObject({ status: 0, stdout: names, stderr: '' });
    const unknown = run('query find');
    expect(unknown).toMatchObject({ status: 1, stdout: names });
    expect(unknown.stderr).toMatch(/^There is no query find\./);
  });

  test.each<[string, string, Setup, RegExp]>([
    ['the word is missing', 'find-request', {}, /^Append what the query looks for, .* find-request ID\n$/],
    ['the word is no id', 'find-request ";|"', {}, /^WORD must be an id, /],
    ['the query looks for nothing', 'latencies 1', {}, / so leave 1 out\.\n$/],
    ['MINUTES is no number', 'latencies', { settings: { MINUTES: '1h' } }, /^Set MINUTES to a number/],
    [
      'queries cannot be read',
      'latencies',
      { aws: { 'logs describe-query-definitions': null } },
      /cannot be read/,
    ],
    ['the query cannot start', 'latencies', { aws: { 'logs start-query': null } }, /cannot be started/],
    [
      'the query does not complete',
      'latencies',
      { aws: { 'logs get-query-results --query status': 'Timeout' } },
      /has ended with the status Timeout\.\n$/,
    ],
    ['the results cannot be read', 'latencies', { aws: { 'logs get-query-results': null } }, /^$/],
  ])('fails if %s', (_what, words, setup, message) => {
    const { status, stdout, stderr } = run(`query ${words}`, setup);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

test('commands prints AWS commands with the names of the stage, and runs none of them', () => {
  const { status, stdout, changing } = run('commands');
  expect([status, changing]).toEqual([0, []]);
  const commands = stdout.split('\n').filter((line) => !line.startsWith('#'));
  expect(commands).toEqual(
    expect.arrayContaining([
      `aws ${flush}`,
      `aws lambda update-alias --name live --routing-config 'AdditionalVersionWeights={}' --function-version VERSION --function-name ${LIST}`,
      'aws logs tail --follow --since 1h TheLog',
    ]),
  );
});

test.each<[string, string, Setup, RegExp]>([
  ['the command is unknown', 'bakc', {}, /^Usage: sh docs\/oncall\.sh status \| back /],
  ['STAGE is missing', 'back', { settings: { STAGE: '' } }, /^Set STAGE to /],
  ['AWS_REGION is missing', 'back', { settings: { AWS_REGION: '' } }, /^Set AWS_REGION to /],
  ['the AWS CLI is missing', 'status', { settings: { PATH: '/nowhere' } }, /^Install AWS CLI 2\./],
  [
    'there are no credentials',
    'back',
    { aws: { 'sts get-caller-identity': null } },
    /^Set your AWS credentials/,
  ],
  [
    'the stack cannot be read',
    'back',
    { aws: { 'cloudformation describe-stacks': null }, settings: { STAGE: 'prod' } },
    /^Check STAGE, AWS_REGION and your credentials: PetStore-prod cannot be read\.\n$/,
  ],
])('the script fails with one sentence if %s', (_what, command, setup, message) => {
  const { status, stderr, changing } = run(command, setup);
  expect([status, changing]).toEqual([1, []]);
  expect(stderr).toMatch(message);
});

const mainFlow = ['status', 'back', 'query find-request 1-a=', 'commands'];
const inSh = mainFlow.map((command) => run(command));

for (const shell of ['bash', 'zsh']) {
  const describeIfInstalled = isInstalled(shell) ? describe : describe.skip;
  describeIfInstalled(`in ${shell},`, () => {
    test.each(mainFlow)('%s does the same as in sh', (command) => {
      const { calls: _calls, ...expected } = inSh[mainFlow.indexOf(command)]!;
      expect(run(command, { shell })).toMatchObject(expected);
    });
  });
}

test('the break-glass policy allows all calls', () => {
  const arns: Record<string, string> = {
    apigateway: 'arn:aws:apigateway:REGION::/restapis/ab12/stages/production/cache/authorizers',
    cloudformation: 'arn:aws:cloudformation:REGION:ACCOUNT:stack/PetStore-production/1a2b',
    cloudwatch: '*',
    codedeploy: '*',
    lambda: 'arn:aws:lambda:REGION:ACCOUNT:function:PetStore-production-List',
    logs: 'arn:aws:logs:REGION:ACCOUNT:log-group:PetStore-production-ListLogs',
  };
  const aws = { ...stackStatus('UPDATE_IN_PROGRESS'), 'deploy list-deployments GetGroup': 'd-1' };
  const calls = [...inSh, run('back', { aws })].flatMap((one) => one.calls);
  const actions = new Set(
    calls
      .filter((call) => /^[a-z]/.test(call)) // not a further line of a query
      .map((call) => call.split(' ') as [string, string])
      .filter(([service]) => service !== 'sts') // needs no permission
      .map(([service, operation]) => {
        if (service === 'apigateway') return 'apigateway:DELETE';
        return `${service.replace('deploy', 'codedeploy')}:${pascalCase(operation)}`;
      }),
  );
  expect(actions.size).toBe(12);
  const missing = [...actions].filter(
    (action) => !permits(statementsOf('break-glass'), action, arns[action.split(':')[0]!]!),
  );
  expect(missing).toEqual([]);
});
