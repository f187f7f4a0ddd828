import { afterEach, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeAws, startFakeAws } from '../../support/fake-aws.ts';
import { refusal } from '../../support/outcomes.ts';
import { type Outcome, runModule } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const home = temporaryFolder();
const credentials = { AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'secret' };
const region = { AWS_REGION: 'eu-central-1' };
const running: FakeAws[] = [];
/** Where a profile is whose credentials come from signing in. */
const ssoProfile = join(home, 'config');
writeFileSync(
  ssoProfile,
  `[profile sso]
sso_session = pet-store
sso_account_id = 123456789012
sso_role_name = operator
[sso-session pet-store]
sso_region = eu-central-1
sso_start_url = https://sign-in.invalid
`,
);

afterEach(async () => {
  for (const aws of running.splice(0)) await aws.close();
});

async function start(options: Parameters<typeof startFakeAws>[0]): Promise<FakeAws> {
  const aws = await startFakeAws(options);
  running.push(aws);
  return aws;
}

const unreachable = { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' };
const complete = { BaseAddress: 'http://127.0.0.1:1/v1', ApiKeysTable: 'keys' };

function run(module: string, parameters: string[], environment: Record<string, string>): Promise<Outcome> {
  return runModule(module, parameters, { HOME: home, AWS_MAX_ATTEMPTS: '1', ...environment });
}

function issue(environment: Record<string, string>): Promise<Outcome> {
  return run('infra/operate/keys/main.ts', ['issue', '--owner', 'Acme', '--stage', 'staging'], environment);
}

// What is true of one command is true of the other, as both find their stage in one place: each test starts a process.
describe.each([
  ['smoke', 'infra/operate/smoke.ts', []],
  ['keys', 'infra/operate/keys/main.ts', ['issue', '--owner', 'Acme']],
])('npm run %s', (_command, module, parameters: string[]) => {
  const runStaging = (environment: Record<string, string>) =>
    run(module, [...parameters, '--stage', 'staging'], environment);

  test('says to deploy a stage whose stack there is not', async () => {
    const { asked, environment } = await start({});
    expect(refusal(await runStaging({ ...environment, ...region, ...credentials }))).toBe(
      'There is no stack PetStore-staging in this account and eu-central-1: check AWS_PROFILE and AWS_REGION, or deploy it with npx cdk deploy PetStore-staging.',
    );
    expect(asked).toEqual(['DescribeStacks PetStore-staging']);
  });

  test('asks for credentials when there are none', async () => {
    expect(refusal(await runStaging({ ...unreachable, ...region }))).toMatch(
      /^Set your AWS credentials, AWS_PROFILE for example: .*[^.]\.$/,
    );
  });
});

describe('an operator command', () => {
  test.each([
    ['no base address', { ApiKeysTable: 'keys' }],
    ['no table of keys', { BaseAddress: 'http://127.0.0.1:1/v1' }],
  ])('says to deploy again a stack with %s', async (_what, outputs: Record<string, string>) => {
    const { environment } = await start({ stacks: { 'PetStore-staging': outputs } });
    expect(refusal(await issue({ ...environment, ...region, ...credentials }))).toBe(
      'The stack PetStore-staging lacks outputs: deploy it again.',
    );
  });

  test('asks for a region', async () => {
    expect(refusal(await issue({ ...unreachable, ...credentials }))).toBe(
      'Set AWS_REGION to the region of the stage.',
    );
  });

  test.each([
    ['there is no such profile', { AWS_PROFILE: 'missing' }],
    ['nobody has signed in', { AWS_PROFILE: 'sso', AWS_CONFIG_FILE: ssoProfile }],
  ])('asks for credentials when %s', async (_why, settings: Record<string, string>) => {
    expect(refusal(await issue({ ...unreachable, ...region, ...settings }))).toMatch(
      /^Set your AWS credentials, AWS_PROFILE for example: .*[^.]\.$/,
    );
  });

  const notAllowed =
    'User: arn:aws:iam::123456789012:user/operator is not authorized to perform: cloudformation:DescribeStacks';
  const expired = 'The security token included in the request is expired';
  const signInAgain = `AWS does not accept your credentials; sign in again, or check AWS_PROFILE and AWS_REGION: ${expired}.`;

  test.each([
    [
      'the permission is missing',
      { action: 'cloudformation:DescribeStacks', status: 403, code: 'AccessDenied', message: notAllowed },
      `AWS does not allow this; ask for the policy in docs/api-keys.md, "Permissions": ${notAllowed}.`,
    ],
    [
      'the credentials have expired',
      { action: 'cloudformation:DescribeStacks', status: 403, code: 'ExpiredToken', message: expired },
      signInAgain,
    ],
    [
      'they expire before the key is written',
      { action: 'dynamodb:PutItem', status: 400, code: 'ExpiredTokenException', message: expired },
      signInAgain,
    ],
    [
      'CloudFormation is asked too often',
      { action: 'cloudformation:DescribeStacks', status: 400, code: 'Throttling', message: 'Rate exceeded' },
      'Rate exceeded',
    ],
  ])('passes on what AWS says when %s', async (_why, refused, sentence) => {
    const { environment } = await start({
      stacks: { 'PetStore-staging': complete },
      refuse: ({ action }) => (action === refused.action ? refused : undefined),
    });
    expect(refusal(await issue({ ...environment, ...region, ...credentials }))).toBe(sentence);
  });

  test('says to deploy a stage whose table lacks the index', async () => {
    const message = 'The table does not have the specified index: newest';
    const { environment } = await start({
      stacks: { 'PetStore-staging': complete },
      refuse: ({ action }) =>
        action === 'dynamodb:Query' ? { status: 400, code: 'ValidationException', message } : undefined,
    });
    const list = ['list', '--stage', 'staging'];
    expect(
      refusal(await run('infra/operate/keys/main.ts', list, { ...environment, ...region, ...credentials })),
    ).toBe('The stage is older than this command: deploy it first.');
  });

  test('does nothing by a clock that is wrong', async () => {
    const { asked, environment } = await start({
      stacks: { 'PetStore-staging': complete },
      clockOffset: 600_000,
    });
    expect(refusal(await issue({ ...environment, ...region, ...credentials }))).toMatch(
      /^The clock of this machine is wrong by (?:599|600) seconds: set it first\.$/,
    );
    expect(asked).toEqual(['DescribeStacks PetStore-staging', 'GetCallerIdentity']);
  });

  test('passes on why AWS cannot be reached', async () => {
    expect(refusal(await issue({ ...unreachable, ...region, ...credentials }))).toMatch(
      /^AWS cannot be reached; check your network and AWS_REGION: .*127\.0\.0\.1:1\.$/,
    );
  });

  test('says what a region looks like when it is none', async () => {
    expect(refusal(await issue({ ...unreachable, AWS_REGION: 'somewhere!', ...credentials }))).toMatch(
      /^AWS_REGION must be a region such as eu-central-1: .*somewhere!.*[^.]\.$/,
    );
  });
});
