import { describe, expect, test } from '@jest/globals';
import { UsageError } from '../../infra/command.ts';
import { stagesOf } from '../../infra/settings.ts';
import { collections } from '../../shared/contract/operations.ts';
import { domain, stages } from '../support/stages.ts';

const { certificateArn, hostedZoneId, ...named } = domain;
const items = collections.map(({ plural }) => plural).join(' or ');

test.each<object>([
  { requestsPerSecond: 7 },
  { createsPerSecond: 400, createBurst: 100, maxWriteUnitsPerSecond: 40_000 },
  { createsPerSecond: 40, createBurst: 10, maxWriteUnitsPerSecond: 100 },
  { functionTimeoutSeconds: 8 },
  { domain: { ...named, certificateArn } },
  { domain: { ...named, hostedZoneId, disableDefaultEndpoint: true } },
  { publicUrl: 'https://api.example.com', domain },
  { publicUrl: 'https://api.example.com:8443/some/shop' },
])('the settings %j are accepted', (changes) => {
  expect(problemOf(changes)).toBeUndefined();
});

const notPublicUrl =
  'publicUrl must be the https URL of the proxy in lowercase, such as https://api.example.com/pet-store, ';
test.each<[object, string]>([
  [
    { requestsPerSecond: 1_000, maxReadUnitsPerSecond: 499 },
    `maxReadUnitsPerSecond must be at least 500, not 499, because each of the requestsPerSecond can be a list of ${items}, `,
  ],
  [
    { createsPerSecond: 401, maxWriteUnitsPerSecond: 40_000 },
    `createsPerSecond must be at most 400, not 401, because a create of ${items} takes 2 write units, and createsPerSecond can use 80% of the 1000 write units per second `,
  ],
  [
    { createBurst: 101, maxWriteUnitsPerSecond: 40_000 },
    `createBurst must be at most 100, not 101, because a create of ${items} takes 2 write units, and createBurst can use 20% of `,
  ],
  [
    { createsPerSecond: 41, maxWriteUnitsPerSecond: 100 },
    `createsPerSecond must be at most 40, not 41, because a create of ${items} takes 2 write units, and createsPerSecond can use 80% of the 100 write units of maxWriteUnitsPerSecond`,
  ],
  [{ functionTimeoutSeconds: 7 }, 'functionTimeoutSeconds must be an integer from 8 to 28, not 7'],
  [{ recoveryDays: undefined }, 'recoveryDays must be an integer from 1 to 35, not undefined'],
  [{ requestBurst: 0 }, 'requestBurst must be an integer of at least 1, not 0'],
  [{ authorizerCacheSeconds: 1.5 }, 'authorizerCacheSeconds must be an integer from 0 to 3600, not 1.5'],
  [{ alarmEmail: 'operator' }, 'alarmEmail must be an email address or null, not operator'],
  [
    { domain: named },
    `domain must have a certificateArn, or a hostedZoneId for a certificate of ${domain.name} `,
  ],
  ...[
    'api.example.com',
    'http://api.example.com',
    'https://me:secret@example.com',
    'https://a.example?b',
    'https://a.example/',
    'https://a.example/v1',
    'https://a.example/a>b',
    'https://A.example',
  ].map((value): [object, string] => [{ publicUrl: value }, notPublicUrl]),
])('the settings %j are rejected with a message that contains "%s"', (changes, problem) => {
  expect(problemOf(changes)).toContain(problem);
  expect(problemOf(changes)).not.toContain('secret');
});

test('the message names all problems and the stage', () => {
  const settings = { ...stages.staging, functionTimeoutSeconds: 1, domain: named };
  expect(() => stagesOf({ staging: settings })).toThrow(
    /^infra\/stages\.ts, stage staging: functionTimeoutSeconds must .*; domain must .*\.$/,
  );
});

const validName =
  "a letter and up to 29 more letters and digits, in lowercase, but not 'account', 'local' or a version such as 'v1'";
test.each(['my stage!', 'Staging', '1eu', 'eu-1', 'x'.repeat(31), 'account', 'local', 'v1', 'v12'])(
  'the stage name %j is rejected',
  (name) => {
    const error = new UsageError(`The name of stage '${name}' in infra/stages.ts must be ${validName}.`);
    expect(() => stagesOf({ [name]: stages.staging })).toThrow(error);
  },
);

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

  const setBasedOn =
    'Set `-c based-on=STAGE`, where STAGE is staging or production, or remove the stage drill from the ';
  test.each([
    [{ stage: 'drill' }, setBasedOn],
    [{ 'based-on': 'production' }, 'Add `-c stage=NAME`, where NAME is the name of the new stage.'],
    [{ stage: 'drill', 'based-on': 'prod' }, setBasedOn],
    [{ stage: 'staging', 'based-on': 'production' }, 'Change `-c stage=staging`, because infra/stages.ts '],
    [{ stage: 'Jane', 'based-on': 'production' }, `NAME in \`-c stage=NAME\` must be ${validName}.`],
  ])('is rejected with an instruction for the operator if the context is %j', (context, message) => {
    expect(() => stagesOf(all, context)).toThrow(message);
  });
});

describe('the context canary', () => {
  test('gives all requests to new versions at once', () => {
    const [staging, production] = stagesOf(stages, { canary: 'off' });
    expect([staging, production]).toMatchObject([
      { name: 'staging', canaryDeployments: false },
      { name: 'production', canaryDeployments: true, isCanaryOff: true },
    ]);
  });

  test.each(['on', 'of', ''])('cannot be %j', (canary) => {
    expect(() => stagesOf(stages, { canary })).toThrow(/^`-c canary` has only the value off, /);
  });
});

/** Returns the error message for changed settings of production, or undefined if these settings are valid. */
function problemOf(changes: object): string | undefined {
  try {
    stagesOf({ production: { ...stages.production, ...changes } });
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^infra\/stages\.ts, stage production: (.*)\.$/, '$1');
  }
}
