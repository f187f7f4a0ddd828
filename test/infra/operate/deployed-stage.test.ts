import { afterAll, expect, test } from '@jest/globals';
import { stackName } from '../../../shared/names.ts';
import { type AwsBehavior, startFakeAws } from './fake-aws.ts';
import { errorOutput, runModule } from '../../support/run-command.ts';
import { runInProcess } from '../../support/run-in-process.ts';

const region = { AWS_REGION: 'eu-central-1' };
const credentials = { AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'secret' };
const unreachable = { AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_MAX_ATTEMPTS: '1' };
const address = { BaseUrl: 'http://127.0.0.1:1/v1' };
const stacks = { [stackName('staging')]: { ...address, ApiKeysTable: 'keys' } };

const behavior: AwsBehavior = {};
const aws = await startFakeAws(behavior);
afterAll(() => aws.close());

const issue = ['issue', '--owner', 'Acme'];

/** Returns the error message of `npm run keys`. The stage is staging, unless `command` specifies a stage. */
async function failure(command: string[], environment: Record<string, string>): Promise<string> {
  const [action = '', ...options] = command;
  const parameters = [action, '--stage', 'staging', ...options];
  return errorOutput(await runInProcess('infra/operate/keys/main.ts', parameters, { environment }));
}

test.each<[string, Record<string, string>, RegExp]>([
  ['without credentials', region, /credentials.* AWS_PROFILE\./],
  ['with a missing profile', { ...region, AWS_PROFILE: 'missing' }, /credentials.* AWS_PROFILE\./],
  ['without a region', credentials, /AWS_REGION/],
  ['with an invalid region', { ...credentials, AWS_REGION: 'somewhere!' }, /AWS_REGION.*somewhere!/],
  ['with an incomplete region', { ...credentials, AWS_REGION: 'eu-central' }, / eu-central-1, not /],
])('a command %s reports what to check', async (_what, environment, reason) => {
  expect(await failure(issue, { ...unreachable, ...environment })).toMatch(reason);
});

// This test uses a separate process, because Jest changes the class of network errors.
test('a command without a network reports what to check', async () => {
  const settings = { ...unreachable, ...region, ...credentials };
  expect(errorOutput(await runModule('infra/operate/smoke.ts', ['--stage', 'staging'], settings))).toMatch(
    /network.*127\.0\.0\.1:1\.$/,
  );
});

const expired = 'The security token included in the request is expired';

function rejecting(action: string, status: number, code: string, message: string): AwsBehavior {
  return { reject: (request) => (request.action === action ? { status, code, message } : undefined) };
}
const withoutStack = (status: number, code: string, message: string) =>
  rejecting('cloudformation:DescribeStacks', status, code, message);

test.each<[string, AwsBehavior, RegExp, string[]?]>([
  [
    'the stack does not exist',
    { stacks: {} },
    new RegExp(`no stack ${stackName('staging')} .* cdk deploy \\S+\\.$`),
  ],
  ['the stage name is abbreviated', { stacks: {} }, / mean production\?/, [...issue, '--stage', 'prod']],
  [
    'the stack of an ephemeral stage does not exist',
    { stacks: {} },
    /^(?!.*cdk deploy).* Did you mean staging or .* AWS_REGION, or see "Your own stage" in docs\/runbook\.md\.$/,
    [...issue, '--stage', 'drill'],
  ],
  ['the stack has no table name', { stacks: { [stackName('staging')]: address } }, /staging has incomplete/],
  ['the local clock is wrong', { clockOffset: 600_000 }, /clock is wrong by (?:59\d|600) seconds/],
  [
    'the credentials are missing a permission',
    withoutStack(403, 'AccessDenied', 'You cannot do this.'),
    /permission.*"Permissions" in docs\/api-keys\.md.* You cannot do this\.$/,
  ],
  ['the credentials have expired', withoutStack(403, 'ExpiredToken', expired), /Sign in again/],
  [
    'the credentials expire during the command',
    rejecting('dynamodb:PutItem', 400, 'ExpiredTokenException', expired),
    /Sign in again/,
  ],
  ['AWS throttles requests', withoutStack(400, 'Throttling', 'Rate exceeded'), /^Rate exceeded$/],
])('a command fails with a one-line message if %s', async (_what, changes, reason, command = issue) => {
  Object.assign(behavior, { stacks, clockOffset: 0, reject: undefined, ...changes });
  const environment = { ...aws.environment, AWS_MAX_ATTEMPTS: '1' };
  expect(await failure(command, environment)).toMatch(reason);
});
