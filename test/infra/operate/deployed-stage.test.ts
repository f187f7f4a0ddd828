import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AwsBehavior, type FakeAws, startFakeAws } from './fake-aws.ts';
import { refusal, runModule } from '../../support/run-command.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

// All commands find a deployed stage in the same way.

const home = temporaryFolder();
/** The configuration of a profile whose user has not signed in. */
const ssoConfig = join(home, 'config');
writeFileSync(
  ssoConfig,
  `[profile sso]
sso_session = pet-store
sso_account_id = 123456789012
sso_role_name = operator
[sso-session pet-store]
sso_region = eu-central-1
sso_start_url = https://sign-in.invalid
`,
);

const unreachable = { AWS_ENDPOINT_URL: 'http://127.0.0.1:1' };
const region = { AWS_REGION: 'eu-central-1' };
const credentials = { AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'secret' };
const complete = { BaseAddress: 'http://127.0.0.1:1/v1', ApiKeysTable: 'keys' };

const behavior: AwsBehavior = {};
let aws: FakeAws;

beforeAll(async () => {
  aws = await startFakeAws(behavior);
});
afterAll(() => aws.close());
beforeEach(() => {
  Object.assign(behavior, { stacks: { 'PetStore-staging': complete }, clockOffset: 0, reject: undefined });
  aws.asked.length = 0;
});

const issue = ['keys/main', 'issue', '--owner', 'Acme'];

/** Returns the message with which a command for staging fails. */
async function failure(
  [module, ...parameters]: string[],
  environment: Record<string, string> = { ...aws.environment, ...region, ...credentials },
): Promise<string> {
  const settings = { HOME: home, AWS_MAX_ATTEMPTS: '1', ...environment };
  const all = [...parameters, '--stage', 'staging'];
  return refusal(await runInProcess(`infra/operate/${module}.ts`, all, { environment: settings }));
}

test.each([[['smoke']], [issue]])('%j needs a stack', async (command) => {
  behavior.stacks = {};
  expect(await failure(command)).toBe(
    'There is no stack PetStore-staging in this account and eu-central-1: check AWS_PROFILE and AWS_REGION, or deploy it with npx cdk deploy PetStore-staging.',
  );
  expect(aws.asked).toEqual(['DescribeStacks PetStore-staging']);
});

test.each(['BaseAddress', 'ApiKeysTable'])('a stack without %s must be deployed again', async (missing) => {
  const outputs = Object.entries(complete).filter(([name]) => name !== missing);
  behavior.stacks = { 'PetStore-staging': Object.fromEntries(outputs) };
  expect(await failure(issue)).toBe('The stack PetStore-staging lacks outputs: deploy it again.');
});

const askForCredentials = /^Set your AWS credentials, AWS_PROFILE for example: .*[^.]\.$/;

test.each<[string, Record<string, string>, RegExp]>([
  ['credentials', region, askForCredentials],
  ['a profile that exists', { ...region, AWS_PROFILE: 'missing' }, askForCredentials],
  ['a user who signed in', { ...region, AWS_PROFILE: 'sso', AWS_CONFIG_FILE: ssoConfig }, askForCredentials],
  ['a region', credentials, /^Set AWS_REGION to the region of the stage\.$/],
  [
    'a valid region',
    { ...credentials, AWS_REGION: 'somewhere!' },
    /^AWS_REGION must be a region such as eu-central-1: .*somewhere!.*[^.]\.$/,
  ],
])('a command needs %s', async (_what, environment, sentence) => {
  expect(await failure(issue, { ...unreachable, ...environment })).toMatch(sentence);
});

// In a process of its own, because Jest gives this one another class of errors than the network has.
test('a command needs a network', async () => {
  const settings = { ...unreachable, ...region, ...credentials, AWS_MAX_ATTEMPTS: '1' };
  expect(refusal(await runModule('infra/operate/smoke.ts', ['--stage', 'staging'], settings))).toMatch(
    /^AWS cannot be reached; check your network and AWS_REGION: .*127\.0\.0\.1:1\.$/,
  );
});

describe('an error of AWS is explained:', () => {
  const notAllowed =
    'User: arn:aws:iam::123456789012:user/operator is not authorized to perform: cloudformation:DescribeStacks';
  const expired = 'The security token included in the request is expired';
  const signInAgain = `AWS does not accept your credentials; sign in again, or check AWS_PROFILE and AWS_REGION: ${expired}.`;
  const noIndex = 'The table does not have the specified index: newest';
  const describeStacks = 'cloudformation:DescribeStacks';

  test.each([
    [
      [describeStacks, 403, 'AccessDenied', notAllowed],
      `AWS does not allow this; ask for the policy in docs/api-keys.md, "Permissions": ${notAllowed}.`,
    ],
    [[describeStacks, 403, 'ExpiredToken', expired], signInAgain],
    [['dynamodb:PutItem', 400, 'ExpiredTokenException', expired], signInAgain],
    [[describeStacks, 400, 'Throttling', 'Rate exceeded'], 'Rate exceeded'],
    [
      ['dynamodb:Query', 400, 'ValidationException', noIndex],
      'The stage is older than this command: deploy it first.',
    ],
  ] as const)('%j', async ([rejected, status, code, message], sentence) => {
    behavior.reject = ({ action }) => (action === rejected ? { status, code, message } : undefined);
    const command = rejected === 'dynamodb:Query' ? ['keys/main', 'list'] : issue;
    expect(await failure(command)).toBe(sentence);
  });
});

test('a command does nothing while the clock of the machine is wrong', async () => {
  behavior.clockOffset = 600_000;
  expect(await failure(issue)).toMatch(
    /^The clock of this machine is wrong by (?:59\d|600) seconds: set it first\.$/,
  );
  expect(aws.asked).toEqual(['DescribeStacks PetStore-staging', 'GetCallerIdentity']);
});
