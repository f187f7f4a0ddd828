import { describe, expect, test } from '@jest/globals';
import { UsageError } from '../../infra/command.ts';
import { stagesOf } from '../../infra/settings.ts';
import { stages as realStages } from '../../infra/stages.ts';
import { domain, stages } from '../support/stages.ts';

const { certificateArn, hostedZoneId, ...named } = domain;

// Other tests use test/support/stages.ts, so that operators can change infra/stages.ts without changing a test.
test('the settings of every stage in infra/stages.ts are valid', () => {
  expect(stagesOf(realStages).map(({ name }) => name)).toEqual(Object.keys(realStages));
});

describe('settings', () => {
  test.each<object>([
    { createsPerSecond: 400, createBurst: 100, maxWriteUnitsPerSecond: 40_000 },
    { createsPerSecond: 40, createBurst: 10, maxWriteUnitsPerSecond: 100 },
    { requestsPerSecond: 1_000, maxReadUnitsPerSecond: 500 },
    { functionTimeoutSeconds: 8 },
    { domain: { ...named, certificateArn } },
    { domain: { ...named, hostedZoneId, disableDefaultEndpoint: true } },
    { publicUrl: 'https://api.example.com', domain },
    { publicUrl: 'https://api.example.com:8443/some/shop' },
  ])('%j are accepted', (changes) => {
    expect(problemOf(changes)).toBeUndefined();
  });

  test.each<[object, RegExp]>([
    [{ functionTimeoutSeconds: 7 }, /^functionTimeoutSeconds .* 8 to 28, not 7$/],
    [{ recoveryDays: 36 }, /^recoveryDays .* from 1 to 35, not 36$/],
    [{ requestBurst: 0 }, /^requestBurst .* at least 1, not 0$/],
    [{ authorizerCacheSeconds: 1.5 }, /^authorizerCacheSeconds .* not 1\.5$/],
    [{ requestsPerSecond: 1_000, maxReadUnitsPerSecond: 499 }, /^maxReadUnitsPerSecond .* at least 500,/],
    [
      { createsPerSecond: 401, maxWriteUnitsPerSecond: 40_000 },
      /^createsPerSecond .* at most 400,.* 80% of the 1000 /,
    ],
    [{ createBurst: 101, maxWriteUnitsPerSecond: 40_000 }, /^createBurst .* at most 100,.* 20% of the 1000 /],
    [
      { createsPerSecond: 41, maxWriteUnitsPerSecond: 100 },
      /^createsPerSecond .* at most 40,.* 80% of the 100 /,
    ],
    [{ alarmEmail: 'operator' }, /^alarmEmail /],
    [{ domain: named }, /^domain .* certificateArn, .* hostedZoneId /],
  ])('%j are rejected with a message that matches %s', (changes, problem) => {
    expect(problemOf(changes)).toMatch(problem);
  });

  test('with a publicUrl to which `/v1` cannot be appended are rejected, without repeating a password', () => {
    const accepted = [
      'api.example.com',
      'http://api.example.com',
      'https://me:secret@example.com',
      'https://a.example?b',
      'https://a.example/',
      'https://a.example/v1',
      'https://a.example/a>b',
      'https://A.example',
    ].filter((publicUrl) => !problemOf({ publicUrl })?.startsWith('publicUrl must be the https URL '));
    expect(accepted).toEqual([]);
    expect(problemOf({ publicUrl: 'https://me:secret@example.com' })).not.toContain('secret');
  });

  test('are rejected with a message that names all problems and the stage', () => {
    const settings = { ...stages.staging, functionTimeoutSeconds: 1, domain: named };
    expect(() => stagesOf({ staging: settings })).toThrow(
      /^infra\/stages\.ts, stage staging: functionTimeoutSeconds must .*; domain must .*\.$/,
    );
  });

  test.each(['my stage!', 'Staging', '1eu', 'eu-1', 'x'.repeat(31), 'account', 'local', 'v1'])(
    'of a stage with the name %j are rejected',
    (name) => {
      expect(() => stagesOf({ [name]: stages.staging })).toThrow(
        new UsageError(
          `The name of stage '${name}' in infra/stages.ts must be a letter and up to 29 more letters and digits, in lowercase, but not 'account', 'local' or a version such as 'v1'.`,
        ),
      );
    },
  );
});

describe('an ephemeral stage', () => {
  const publicUrl = 'https://api.example.com/shop';
  const alarmEmail = 'ada@example.com';
  const all = {
    staging: stages.staging,
    production: { ...stages.production, domain, publicUrl, alarmEmail },
  };

  test('has the settings of the stage that it is based on, except those that belong to this stage', () => {
    const pr123 = { ...stages.production, name: 'pr123', alarmEmail: null, retainData: false };
    expect(stagesOf(all, { stage: 'pr123', 'based-on': 'production' })).toEqual([pr123]);
  });

  test.each([
    [{ stage: 'drill' }, /^Set `-c based-on=STAGE`, where STAGE is staging or production,/],
    [{ stage: 'drill', 'based-on': 'prod' }, /^Set `-c based-on=STAGE`/],
    [{ 'based-on': 'production' }, /^Add `-c stage=NAME`/],
    [{ stage: 'staging', 'based-on': 'production' }, /^Change `-c stage=staging`/],
    [{ stage: 'Jane', 'based-on': 'production' }, /^NAME in `-c stage=NAME` must be a letter /],
  ])('is rejected with an instruction for the operator if the context is %j', (context, message) => {
    expect(() => stagesOf(all, context)).toThrow(message);
  });
});

describe('the context canary', () => {
  test('gives all requests to new versions at once', () => {
    expect(stagesOf(stages, { canary: 'off' })).toMatchObject([
      { name: 'staging', canaryDeployments: false },
      { name: 'production', canaryDeployments: true, isCanaryOff: true },
    ]);
  });

  test.each(['on', ''])('cannot be %j', (canary) => {
    expect(() => stagesOf(stages, { canary })).toThrow(/^`-c canary` has only the value off, /);
  });
});

/** Returns the problem of changed settings of production, or undefined if these settings are valid. */
function problemOf(changes: object): string | undefined {
  try {
    stagesOf({ production: { ...stages.production, ...changes } });
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^infra\/stages\.ts, stage production: (.*)\.$/, '$1');
  }
}
