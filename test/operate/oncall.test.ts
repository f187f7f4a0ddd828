import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { permits } from '../../infra/local/emulator/template/permissions.ts';
import { pascalCase } from '../../shared/names.ts';
import { statementsOf } from '../support/policies.ts';
import { isInstalled } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = temporaryFolder();
const LIST = 'PetStore-production-ListBooks0F2A-Qm3x';
const GET = 'PetStore-production-GetBook61B0-vN4h';
const STARTED = '2026-11-21T17:29:08.512000+00:00';

/** What the stand-in for the AWS CLI prints. The aliases and versions are those of a release of ListBooks alone. */
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
  'cloudwatch describe-alarms': `PetStore-production-MonitoringApiServerErrors5C1F\t${STARTED}\tThreshold \u001b[31mcrossed`,
  'logs describe-query-definitions': 'PetStore-production/find-request\nPetStore-production/latencies',
  queryString: 'filter requestId = "PUT-THE-REQUEST-ID-HERE"\n| fields @timestamp',
  logGroupNames: '["LogOne","LogTwo"]',
  'logs start-query': 'the-query',
  'logs get-query-results status': 'Complete',
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
};

/** Runs `docs/oncall.sh` with a stand-in for the AWS CLI. An answer that is null makes the call fail. */
function run(
  shell: string,
  command: string,
  changes: Record<string, string | null> = {},
  { input = '', settings = {} }: { input?: string; settings?: Record<string, string> } = {},
) {
  const folder = mkdtempSync(join(root, 'run-'));
  mkdirSync(join(folder, 'answers'));
  for (const [call, answer] of Object.entries<string | null>({ ...answers, ...changes }))
    if (answer !== null) writeFileSync(join(folder, 'answers', call), `${answer}\n`);
  const program = `#!/bin/sh
printf '%s\\n' "$*" >> '${folder}/calls'
call="$1 $2"
[ -e "${folder}/answers/$call" ] || for argument; do
  [ ! -e "${folder}/answers/$call $argument" ] || { call="$call $argument"; break; }
done
case $call in
  *get-query-results) case $* in
    *'--query status '*) cat "${folder}/answers/$call status" ;;
    *) cat "${folder}/answers/$call" ;;
  esac ;;
  *describe-query-definitions) case $* in
    *queryString*) printf '%s\\t' "$(cat '${folder}/answers/logGroupNames')"; cat '${folder}/answers/queryString' ;;
    *) cat "${folder}/answers/$call" ;;
  esac ;;
  *update-alias*|*stop-deployment*|*flush*) [ ! -e '${folder}/answers/deny' ] ;;
  *) cat "${folder}/answers/$call" ;;
esac
`;
  writeFileSync(join(folder, 'aws'), program, { mode: 0o755 });
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
  const file = join(folder, 'calls');
  const calls = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const changing = calls.filter((call) => /update-alias|stop-deployment|flush/.test(call));
  return { status, stdout, stderr, calls, changing };
}

const flush = 'apigateway flush-stage-authorizers-cache --rest-api-id ab12 --stage-name production';
const pointTo = (name: string, version: number, revision: string) =>
  `lambda update-alias --function-name ${name} --name live --function-version ${version} ` +
  `--routing-config AdditionalVersionWeights={} --revision-id ${revision}`;
const stop = (id: string) => `deploy stop-deployment --deployment-id ${id} --auto-rollback-enabled`;
const yes = { input: 'yes\n' };

const shells = ['sh', 'bash', 'zsh'].map(
  (shell) => [shell, isInstalled(shell) ? describe : describe.skip] as const,
);
for (const [shell, describeIfInstalled] of shells) {
  describeIfInstalled(`in ${shell}, status`, () => {
    test('shows the stack, active alarms, running deployments and versions, without control bytes', () => {
      const { status, stdout, stderr, changing } = run(shell, 'status', {
        'deploy list-deployments GetGroup': 'd-ABC123',
        [`lambda get-alias ${GET}`]: '6\trevision-2\t{"7":0.1}',
      });
      expect({ status, stderr, changing }).toEqual({ status: 0, stderr: '', changing: [] });
      expect(stdout).toBe(`Account and identity: ${answers['sts get-caller-identity']}
PetStore-production: UPDATE_COMPLETE, last update began at ${STARTED} (reason: None)
Active alarms:
  PetStore-production-MonitoringApiServerErrors5C1F\t${STARTED}\tThreshold [31mcrossed
Running deployments:
  d-ABC123 GetGroup
Versions:
  ${LIST}: 10 (2026-11-21T17:31:00.000+0000), before 9 (2026-11-20T08:00:00.000+0000)
  ${GET}: 6 (2026-11-01T08:00:00.000+0000), before - (-), shares {"7":0.1}
`);
    });
  });

  describeIfInstalled(`in ${shell}, query`, () => {
    test('runs a query with the given word, over the given time, and prints no control bytes', () => {
      const before = Math.floor(Date.now() / 1_000);
      const settings = { MINUTES: '5' };
      const { status, stdout, stderr, calls } = run(shell, 'query find-request 1-a=', {}, { settings });
      expect({ status, stdout, stderr }).toEqual({
        status: 0,
        stdout: '@timestamp=2026-11-21\tuser=[31meve\n',
        stderr: '',
      });
      const started =
        /start-query --log-group-names \["LogOne","LogTwo"\] --start-time (\d+) --end-time (\d+) (.*)/s;
      const [, start, end, rest] = started.exec(calls.join('\n'))!;
      expect(Number(end) - Number(start)).toBe(300);
      expect(Number(end)).toBeGreaterThanOrEqual(before);
      expect(rest).toMatch(
        /^--query-string filter requestId = "1-a="\n\| fields @timestamp --query queryId /,
      );
    });

    test('lists the names of the queries, also if there is no query with the name', () => {
      const names = 'find-request\nlatencies\n';
      expect(run(shell, 'query')).toMatchObject({ status: 0, stdout: names, stderr: '' });
      expect(run(shell, 'query find')).toMatchObject({
        status: 1,
        stdout: names,
        stderr: 'There is no query find. Choose one of these:\n',
      });
    });

    test.each([
      ['query find-request', /^Append what the query looks for, as in: sh \S+ query find-request ID\n$/],
      ['query find-request ";|"', /^WORD must be an id, /],
      ['query find-request a b', /^Usage: /],
    ])('says what is wrong with %s', (command, message) => {
      const { status, stderr, calls } = run(shell, command);
      expect(status).toBe(1);
      expect(stderr).toMatch(message);
      expect(calls.join()).not.toContain('start-query');
    });

    test.each<
      [
        what: string,
        changes: Record<string, string | null>,
        settings: Record<string, string>,
        RegExp,
        string?,
      ]
    >([
      [
        'the query fails',
        { 'logs get-query-results status': 'Timeout' },
        {},
        /has ended with the status Timeout\.\n$/,
      ],
      [
        'there is no permission',
        { 'logs describe-query-definitions': null },
        {},
        /The queries cannot be read\.\n$/,
      ],
      [
        'the query looks for nothing',
        {},
        {},
        /^The query latencies looks for nothing, so leave 1 out\.\n$/,
        'query latencies 1',
      ],
      ['MINUTES is no number', {}, { MINUTES: '1h' }, /^Set MINUTES to a number of minutes/],
    ])('fails if %s', (_what, changes, settings, message, command = 'query latencies') => {
      const { status, stdout, stderr } = run(
        shell,
        command,
        { queryString: 'stats count(*)', ...changes },
        { settings },
      );
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(message);
    });
  });

  describeIfInstalled(`in ${shell}, back`, () => {
    test('points only functions with a version of the last update to the version before, and flushes the cache', () => {
      const { status, stdout, changing } = run(shell, 'back', {}, yes);
      expect([status, changing]).toEqual([0, [pointTo(LIST, 9, 'revision-1'), flush]]);
      expect(stdout).toContain(
        `  ${LIST}: from 10 (2026-11-21T17:31:00.000+0000) to 9 (2026-11-20T08:00:00.000+0000)\n`,
      );
      expect(stdout).not.toContain(GET);
      expect(stdout).toMatch(/Type yes to do this: Done\. /);
    });

    test.each(['no\n', '\n', ''])('changes nothing if the answer is %j', (input) => {
      const { status, changing, stderr } = run(shell, 'back', {}, { input });
      expect({ status, changing, stderr }).toEqual({
        status: 1,
        changing: [],
        stderr: 'Nothing was changed.\n',
      });
    });

    test('stops running deployments instead', () => {
      const running = {
        'cloudformation describe-stacks': `UPDATE_IN_PROGRESS\t${STARTED}\tNone`,
        'deploy list-deployments ListGroup': 'd-1',
        'deploy list-deployments GetGroup': 'd-2',
      };
      const { status, stdout, changing } = run(shell, 'back', running, yes);
      expect([status, changing]).toEqual([0, [stop('d-1'), stop('d-2'), flush]]);
      expect(stdout).toMatch(/Type yes to do this: Done\. CloudFormation rolls back the update\.\n$/);
      expect(stdout).toContain(
        '  d-1: stop the deployment of ListGroup, so that its requests go to the old version\n',
      );
    });

    test('gives all requests to the live version if a deployment has left them divided', () => {
      const divided = {
        [`lambda get-alias ${LIST}`]: '9\trevision-1\t{"10":0.1}',
      };
      expect(run(shell, 'back', divided, yes).changing).toEqual([pointTo(LIST, 9, 'revision-1'), flush]);
    });

    test('does nothing if no function got a new version in the last update', () => {
      const later = { 'cloudformation describe-stacks': 'UPDATE_COMPLETE\t2026-11-22T00:00:00.000Z\tNone' };
      const { status, changing, stderr } = run(shell, 'back', later, yes);
      expect([status, changing]).toEqual([1, []]);
      expect(stderr).toMatch(
        /^Nothing to do: no function got a new version since 2026-11-22T00:00:00\.000Z, /,
      );
    });

    test.each([
      ['UPDATE_IN_PROGRESS', ''],
      ['UPDATE_ROLLBACK_IN_PROGRESS', ''],
      // CodeDeploy's own rollback is a deployment too.
      ['UPDATE_ROLLBACK_IN_PROGRESS', 'd-1'],
    ])('waits during %s with the running deployment %j', (stackStatus, id) => {
      const updating = {
        'cloudformation describe-stacks': `${stackStatus}\t${STARTED}\tReason\nin two lines`,
        'deploy list-deployments ListGroup': id,
      };
      const { status, changing, stderr } = run(shell, 'back', updating, yes);
      expect([status, changing]).toEqual([1, []]);
      expect(stderr).toBe(
        `PetStore-production has the status ${stackStatus}. Wait until it has ended, and try again.\n`,
      );
    });

    test('goes back while CloudFormation deletes what the update has replaced', () => {
      const cleaning = {
        'cloudformation describe-stacks': `UPDATE_COMPLETE_CLEANUP_IN_PROGRESS\t${STARTED}\tNone`,
      };
      expect(run(shell, 'back', cleaning, yes).changing).toEqual([pointTo(LIST, 9, 'revision-1'), flush]);
    });

    test.each<[string, Record<string, string | null>]>([
      ['an alias', { [`lambda get-alias ${GET}`]: null }],
      ['the versions of a function', { [`lambda list-versions-by-function ${LIST}`]: null }],
      [
        'the live version',
        { [`lambda list-versions-by-function ${LIST}`]: '$LATEST\t2026-11-21T17:31:00.000+0000' },
      ],
      ['the deployments of a function', { 'deploy list-deployments GetGroup': null }],
    ])('changes nothing if %s cannot be read', (_what, changes) => {
      const { status, changing, stderr } = run(shell, 'back', changes, yes);
      expect([status, changing]).toEqual([1, []]);
      expect(stderr).toMatch(/Not all deployments and versions can be read, so nothing was changed\.\n$/);
    });

    test('names what AWS rejected', () => {
      const { status, stderr } = run(shell, 'back', { deny: '' }, yes);
      expect([status, stderr]).toEqual([
        1,
        `Failed: ${LIST} cache. Run this command again, or use: sh docs/oncall.sh commands\n`,
      ]);
    });
  });

  describeIfInstalled(`in ${shell}, commands`, () => {
    test('prints AWS commands with the names of the stage, and runs none of them', () => {
      const { status, stdout, changing } = run(shell, 'commands');
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
  });

  describeIfInstalled(`in ${shell}, one sentence says`, () => {
    test.each<[string, string, Parameters<typeof run>[2], Record<string, string>, RegExp]>([
      [
        'that the command is unknown',
        'bakc',
        {},
        {},
        /^Usage: sh docs\/oncall\.sh status \| back \| query \[NAME \[WORD\]\] \| commands\n$/,
      ],
      ['that STAGE is missing', 'back', {}, { STAGE: '' }, /^Set STAGE to .*\n$/],
      ['that AWS_REGION is missing', 'back', {}, { AWS_REGION: '' }, /^Set AWS_REGION to .*\n$/],
      ['that the AWS CLI is missing', 'status', {}, { PATH: '/nowhere' }, /^Install AWS CLI 2\.\n$/],
      [
        'that there are no credentials',
        'back',
        { 'sts get-caller-identity': null },
        {},
        /\nSet your AWS credentials, for example with AWS_PROFILE\.\n$/,
      ],
      [
        'that the stack cannot be read',
        'back',
        { 'cloudformation describe-stacks': null },
        { STAGE: 'prod' },
        /\nCheck STAGE, AWS_REGION and your credentials: PetStore-prod cannot be read\.\n$/,
      ],
    ])('%s', (_what, command, changes, settings, message) => {
      const absolute = spawnSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).stdout.trim();
      const { status, stderr, changing } = run(absolute, command, changes, { ...yes, settings });
      expect([status, changing]).toEqual([1, []]);
      expect(stderr).toMatch(message);
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
  const calls = ['status', 'back', 'query latencies', 'query find-request 1'].flatMap((command) => [
    ...run('sh', command, {}, yes).calls,
    ...run('sh', command, { 'deploy list-deployments GetGroup': 'd-1' }, yes).calls,
  ]);
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
