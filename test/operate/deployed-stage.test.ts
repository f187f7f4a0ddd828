import { afterAll, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { generateApiKey } from '../../shared/api-keys.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { type AwsBehavior, startFakeAws } from './fake-aws.ts';
import { errorOutput, runModule } from '../support/run-command.ts';

const region = { AWS_REGION: 'eu-central-1' };
const credentials = { AWS_ACCESS_KEY_ID: 'operator', AWS_SECRET_ACCESS_KEY: 'secret' };
const unreachable = { AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_MAX_ATTEMPTS: '1' };
const outputs = { BaseUrl: 'http://127.0.0.1:1/v1', ApiKeysTable: 'keys' };

const behavior: AwsBehavior = {};
const aws = await startFakeAws(behavior);
afterAll(() => aws.close());

/** Returns the error message of a command that issues a key for the stage. */
async function failure(stage: string, environment: Record<string, string>): Promise<string> {
  const parameters = ['issue', '--owner', 'Acme', '--stage', stage];
  return errorOutput(await runModule('infra/operate/keys.ts', parameters, environment));
}

test.each<[string, Record<string, string>, RegExp]>([
  ['without credentials', region, /credentials.* AWS_PROFILE\./],
  ['with a missing profile', { ...region, AWS_PROFILE: 'missing' }, /credentials.* AWS_PROFILE\./],
  ['without a region', credentials, /AWS_REGION/],
  [
    'with two identities',
    { ...region, ...credentials, AWS_PROFILE: 'work' },
    /^AWS_PROFILE and AWS_ACCESS_KEY_ID are /,
  ],
  ['with an invalid region', { ...credentials, AWS_REGION: 'somewhere!' }, /AWS_REGION.*somewhere!/],
  ['with an incomplete region', { ...credentials, AWS_REGION: 'eu-central' }, / eu-central-1, not /],
])(
  'a command %s fails with a message about the environment variables',
  async (_what, environment, reason) => {
    expect(await failure('staging', { ...unreachable, ...environment })).toMatch(reason);
  },
);

test('a command names the AWS endpoint that it cannot reach', async () => {
  const settings = { ...unreachable, ...region, ...credentials };
  expect(errorOutput(await runModule('infra/operate/smoke.ts', ['--stage', 'staging'], settings))).toMatch(
    /network.*127\.0\.0\.1:1\.$/,
  );
});

test('commands send their requests to AWS and to the stage through the proxy in HTTPS_PROXY', async () => {
  const targets: string[] = [];
  const proxy = createServer().on('connect', ({ url }, socket) => {
    targets.push(url!);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  const { origin, close } = await listenOnLoopback(proxy);
  const settings = { ...region, ...credentials, HTTPS_PROXY: origin, AWS_MAX_ATTEMPTS: '1' };
  expect(await failure('staging', settings)).toMatch(
    /^AWS cannot be reached\. .* HTTPS_PROXY\. Cause: .* 502/,
  );

  const stage = { BASE_URL: 'https://example.org/v1', API_KEY: generateApiKey('staging') };
  await runModule('infra/operate/smoke.ts', ['--stage', 'staging', '--read-only'], { ...settings, ...stage });
  await close();
  expect(targets).toEqual(['cloudformation.eu-central-1.amazonaws.com:443', 'example.org:443']);
});

const expired = 'The security token included in the request is expired';

/** Returns a behavior that rejects the requests to `service`, or to all services by default. */
function rejecting(status: number, code: string, message: string, service = ''): AwsBehavior {
  return { reject: ({ action }) => (action.startsWith(service) ? { status, code, message } : undefined) };
}

test.each<[string, AwsBehavior, RegExp, string?]>([
  [
    'the stack does not exist',
    { outputs: undefined },
    /no stack \S+-staging .* npx cdk deploy PetStore-staging\.$/,
  ],
  ['the stage name is abbreviated', {}, / mean production\?/, 'prod'],
  [
    'the stack of an ephemeral stage does not exist',
    {},
    /^(?!.*cdk deploy).* Did you mean staging or .* AWS_REGION, or see "Your own stage" in docs\/runbook\.md\.$/,
    'drill',
  ],
  ['a stack output is missing', { outputs: { BaseUrl: outputs.BaseUrl } }, /staging lacks the output/],
  ['the local clock is wrong', { clockOffset: 600_000 }, /clock is wrong by (?:59\d|600) seconds/],
  [
    'the credentials are missing a permission',
    rejecting(403, 'AccessDenied', 'You cannot do this.'),
    /permission.*"Permissions" in docs\/api-keys\.md.* You cannot do this\.$/,
  ],
  ['the credentials have expired', rejecting(403, 'ExpiredToken', expired), /Sign in again/],
  [
    'the credentials expire during the command',
    rejecting(400, 'ExpiredTokenException', expired, 'dynamodb'),
    /Sign in again/,
  ],
  ['AWS throttles requests', rejecting(400, 'Throttling', 'Rate exceeded'), /^Rate exceeded$/],
])('a command fails with a one-line message if %s', async (_what, changes, reason, stage = 'staging') => {
  Object.assign(behavior, { outputs, clockOffset: 0, reject: undefined, ...changes });
  expect(await failure(stage, { ...aws.environment, AWS_MAX_ATTEMPTS: '1' })).toMatch(reason);
});

test('a command fails with the message of AWS even if it contains a word of a megabyte', async () => {
  Object.assign(behavior, { outputs, ...rejecting(400, 'Throttling', `No ${'Token'.repeat(200_000)}`) });
  const parameters = ['list', '--stage', 'staging'];
  const environment = { ...aws.environment, AWS_MAX_ATTEMPTS: '1' };
  const { code, stderr } = await runModule('infra/operate/keys.ts', parameters, environment);
  expect([code, stderr.slice(0, 13)]).toEqual([1, 'No TokenToken']);
});
