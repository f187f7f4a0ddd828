import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { generateApiKey } from '../../shared/api-keys.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { errorOutput, runModule } from '../support/run-command.ts';
import { type AwsBehavior, startFakeAws } from './fake-aws.ts';
import { runInProcess } from './in-process.ts';

// These tests run commands for a deployed stage, and expect one sentence about what is wrong.

const region = { AWS_REGION: 'eu-central-1' };
const credentials = { AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'secret' };
const once = { AWS_MAX_ATTEMPTS: '1' };
const outputs = { BaseUrl: 'http://localhost/v1', ApiKeysTable: 'keys' };
const expired = 'The security token included in the request is expired';

const behavior: AwsBehavior = {};
beforeEach(() => {
  Object.assign(behavior, { outputs, clockOffset: 0, reject: undefined });
});
const aws = await startFakeAws(behavior);
afterAll(() => aws.close());

const issue = (stage: string) => ['issue', '--owner', 'Acme', '--stage', stage];

/** Returns the error message of a command that issues a key for the stage. */
async function failure(environment: Record<string, string>, stage = 'staging'): Promise<string> {
  return errorOutput(
    await runInProcess('infra/operate/keys.ts', issue(stage), { environment: { ...once, ...environment } }),
  );
}

/** Returns a behavior that rejects the requests to `service`, or to all services by default. */
function rejecting(status: number, code: string, message: string, service = ''): AwsBehavior {
  return { reject: ({ action }) => (action.startsWith(service) ? { status, code, message } : undefined) };
}

test.each<[string, Record<string, string>, RegExp]>([
  ['without credentials', region, /credentials.* AWS_PROFILE\./],
  ['with a missing profile', { ...region, AWS_PROFILE: 'missing' }, /credentials.* AWS_PROFILE\./],
  ['without a region', credentials, /AWS_REGION/],
  ['with an incomplete region', { ...credentials, AWS_REGION: 'eu-central' }, / eu-central-1, not /],
  [
    'with two identities',
    { ...region, ...credentials, AWS_PROFILE: 'work' },
    /^AWS_PROFILE and AWS_ACCESS_KEY_ID are /,
  ],
])('a command %s names the environment variable to set', async (_what, environment, reason) => {
  expect(await failure({ AWS_ENDPOINT_URL: aws.environment.AWS_ENDPOINT_URL, ...environment })).toMatch(
    reason,
  );
});

test.each<[string, AwsBehavior, RegExp, string?]>([
  [
    'the stack does not exist',
    { outputs: undefined },
    / no stack PetStore-staging in us-east-1\. .* npx cdk deploy PetStore-staging\.$/,
  ],
  ['the stage name is abbreviated', {}, /^(?!.*cdk deploy).* mean production\?/, 'prod'],
  [
    'the stack of an ephemeral stage does not exist',
    {},
    /^(?!.*cdk deploy).* mean staging or .*"A stage of your own" in docs\/operate\.md\.$/,
    'drill',
  ],
  ['a stack output is missing', { outputs: { BaseUrl: outputs.BaseUrl } }, /staging lacks the output/],
  ['the local clock is wrong', { clockOffset: 600_000 }, /clock is wrong by (?:59\d|600) seconds/],
  [
    'the credentials are missing a permission',
    rejecting(403, 'AccessDenied', 'You cannot do this.'),
    /permission.* You cannot do this\.$/,
  ],
  ['the credentials have expired', rejecting(403, 'ExpiredToken', expired), /Sign in again/],
  [
    'the credentials expire during the command',
    rejecting(400, 'ExpiredTokenException', expired, 'dynamodb'),
    /Sign in again/,
  ],
  ['AWS throttles requests', rejecting(400, 'Throttling', 'Rate exceeded'), /^Rate exceeded$/],
])('a command fails with one sentence if %s', async (_what, changes, reason, stage = 'staging') => {
  Object.assign(behavior, changes);
  expect(await failure(aws.environment, stage)).toMatch(reason);
});

test('a command rejects the name of a stage that cannot be deployed, without repeating a key', async () => {
  const key = generateApiKey('staging');
  for (const stage of ['Staging', 'account', 'v1', key]) {
    const message = await failure(aws.environment, stage);
    expect(message).toMatch(/^--stage must be a stage of infra\/stages\.ts \(staging, /);
    expect(message).not.toContain(key.slice(13));
  }
  expect(errorOutput(await runInProcess('infra/operate/keys.ts', ['list']))).toMatch(/^--stage is missing\./);
});

// These tests start processes, because a command reads the address of the proxy when it starts.
test('commands send their requests to AWS and to the stage through the proxy in HTTPS_PROXY', async () => {
  const targets: string[] = [];
  const proxy = createServer().on('connect', ({ url }, socket) => {
    targets.push(url!);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  const { origin, close } = await listenOnLoopback(proxy);
  const settings = { ...region, ...credentials, ...once, HTTPS_PROXY: origin };
  expect(errorOutput(await runModule('infra/operate/keys.ts', issue('staging'), settings))).toMatch(
    /^AWS cannot be reached\. .* HTTPS_PROXY\. Cause: .* 502/,
  );

  const stage = { BASE_URL: 'https://example.org/v1', API_KEY: generateApiKey('staging') };
  await runModule('infra/operate/smoke.ts', ['--stage', 'staging', '--read-only'], { ...settings, ...stage });
  await close();
  expect(targets).toEqual(['cloudformation.eu-central-1.amazonaws.com:443', 'example.org:443']);
});
