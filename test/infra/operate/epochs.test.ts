import { afterAll, expect, test } from '@jest/globals';
import { stagesEnvironment } from '../../support/assembly.ts';
import { stages } from '../../support/stages.ts';
import { type AwsBehavior, startFakeAws } from './fake-aws.ts';
import { done, errorOutput, runModule } from '../../support/run-command.ts';

const behavior: AwsBehavior = {};
const aws = await startFakeAws(behavior);
afterAll(() => aws.close());

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const planned = stages.staging.listPartitions;

/** Runs the check of the stages for tests while other epochs are deployed. */
function check(deployed: object[] | undefined, stage = 'staging') {
  behavior.outputs = {
    BaseUrl: 'http://127.0.0.1:1/v1',
    ...(deployed && { ListPartitions: JSON.stringify(deployed) }),
  };
  return runModule('infra/operate/epochs.ts', ['--stage', stage], {
    ...aws.environment,
    ...stagesEnvironment(),
  });
}

test.each([
  ['the same epochs are deployed', planned],
  [
    'only an epoch that starts in three hours is deployed in addition',
    [...planned, { since: inHours(3), count: 9 }],
  ],
])('epochs can be deployed if %s', async (_when, deployed) => {
  expect(done(await check(deployed))).toBe(
    'The epochs of listPartitions in infra/stages.ts can be deployed to staging.\n',
  );
});

test('a first epoch can be deployed over a version without epochs, and the operator must compare its count', async () => {
  expect(done(await check(undefined))).toMatch(
    /^The deployed version has one number .* If its setting listPartitions is not 1, stop, and set the count .*\n.* can be deployed/,
  );
});

test('epochs can be deployed with a new stage, and the command names the region without a stack', async () => {
  expect(done(await check([], 'production'))).toMatch(
    /^There is no stack \S+-production in us-east-1 of this AWS account\.\n.* can be deployed to production\.\n$/,
  );
});

test.each([
  ['that has started is missing', [...planned, { since: inHours(-1), count: 9 }]],
  ['that could start during the deployment is missing', [...planned, { since: inHours(1), count: 9 }]],
  ['is edited', [{ ...planned[0], count: 250 }]],
  ['is new and has started', []],
])('epochs cannot be deployed if an epoch %s', async (_what, deployed) => {
  expect(errorOutput(await check(deployed))).toMatch(
    /^infra\/stages\.ts, stage staging: The epochs of listPartitions that start before \S+ must be those of the deployed stage, \[.*\], not \[\{ since: '2025-01-01T00:00:00Z', .*\], because lists could otherwise omit items\. A new epoch must start later\.$/,
  );
});

test('an unknown stage is rejected', async () => {
  expect(errorOutput(await check(planned, 'prod'))).toBe('--stage must be staging or production.');
});
