import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AwsBehavior, type FakeAws, startFakeAws } from './fake-aws.ts';
import { errorOutput, runModule } from '../../support/run-command.ts';
import { runInProcess } from '../../support/run-in-process.ts';

// All commands find a deployed stage in the same way.

const unreachable = { AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_MAX_ATTEMPTS: '1' };
const region = { AWS_REGION: 'eu-central-1' };
const credentials = { AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'secret' };
const address = { BaseUrl: 'http://127.0.0.1:1/v1' };
const table = { ApiKeysTable: 'keys' };
const stacks = { 'PetStore-staging': { ...address, ...table } };

const behavior: AwsBehavior = {};
let aws: FakeAws;

beforeAll(async () => {
  aws = await startFakeAws(behavior);
});
afterAll(() => aws.close());

const issue = ['issue', '--owner', 'Acme'];

/** Returns the message with which the command for keys fails, for staging unless it names a stage itself. */
async function failure(command: string[], environment: Record<string, string>): Promise<string> {
  const [action = '', ...options] = command;
  const parameters = [action, '--stage', 'staging', ...options];
  return errorOutput(await runInProcess('infra/operate/keys/main.ts', parameters, { environment }));
}

const askForCredentials = /^Set your AWS credentials, AWS_PROFILE for example: .*[^.]\.$/;

test.each<[string, Record<string, string>, RegExp]>([
  ['credentials', region, askForCredentials],
  ['a profile that exists', { ...region, AWS_PROFILE: 'missing' }, askForCredentials],
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
  const settings = { ...unreachable, ...region, ...credentials };
  expect(errorOutput(await runModule('infra/operate/smoke.ts', ['--stage', 'staging'], settings))).toMatch(
    /^AWS cannot be reached; check your network and AWS_REGION: .*127\.0\.0\.1:1\.$/,
  );
});

const lacksOutputs = 'The stack PetStore-staging lacks outputs: deploy it again.';
const describeStacks = 'cloudformation:DescribeStacks';
const notAllowed = `User: arn:aws:iam::123456789012:user/operator is not authorized to perform: ${describeStacks}`;
const expired = 'The security token included in the request is expired';
const signInAgain = `AWS does not accept your credentials; sign in again, or check AWS_PROFILE and AWS_REGION: ${expired}.`;
const noIndex = 'The table does not have the specified index: newest';

/** Makes AWS reject one action. */
function rejecting(rejected: string, status: number, code: string, message: string): AwsBehavior {
  return { reject: ({ action }) => (action === rejected ? { status, code, message } : undefined) };
}

test.each<[string, AwsBehavior, unknown, string[]?]>([
  [
    'there is no stack',
    { stacks: {} },
    'There is no stack PetStore-staging in this account and eu-central-1: check AWS_PROFILE and AWS_REGION, or deploy it with npx cdk deploy PetStore-staging.',
  ],
  [
    'there is no stack of a stage on demand',
    { stacks: {} },
    expect.stringMatching(/ with npx cdk deploy PetStore-drill -c stage=drill -c like=production\.$/),
    [...issue, '--stage', 'drill'],
  ],
  ['the stack lacks the address', { stacks: { 'PetStore-staging': table } }, lacksOutputs],
  ['the stack lacks the table', { stacks: { 'PetStore-staging': address } }, lacksOutputs],
  [
    'the clock of the machine is wrong',
    { clockOffset: 600_000 },
    expect.stringMatching(/^The clock of this machine is wrong by (?:59\d|600) seconds: set it first\.$/),
  ],
  [
    'a policy is missing',
    rejecting(describeStacks, 403, 'AccessDenied', notAllowed),
    `AWS does not allow this; ask for the policy in docs/api-keys.md, "Permissions": ${notAllowed}.`,
  ],
  ['credentials expired', rejecting(describeStacks, 403, 'ExpiredToken', expired), signInAgain],
  [
    'credentials expired meanwhile',
    rejecting('dynamodb:PutItem', 400, 'ExpiredTokenException', expired),
    signInAgain,
  ],
  ['AWS throttles', rejecting(describeStacks, 400, 'Throttling', 'Rate exceeded'), 'Rate exceeded'],
  [
    'the table has no index',
    rejecting('dynamodb:Query', 400, 'ValidationException', noIndex),
    'The stage is older than this command: deploy it first.',
    ['list'],
  ],
])('a command says what to do when %s', async (_what, changes, sentence, command = issue) => {
  Object.assign(behavior, { stacks, clockOffset: 0, reject: undefined, ...changes });
  const environment = { ...aws.environment, AWS_MAX_ATTEMPTS: '1', ...region, ...credentials };
  expect(await failure(command, environment)).toEqual(sentence);
});
