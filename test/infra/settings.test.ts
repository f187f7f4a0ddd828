import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { UsageError } from '../../infra/command.ts';
import { stagesOf } from '../../infra/settings.ts';
import { codeBlocksIn } from '../support/markdown-code.ts';
import { domain, stages } from '../support/stages.ts';

const firstEpoch = { since: '2025-01-01T00:00:00Z', count: 1 };
const epochList = "a list of epochs such as [{ since: '2025-01-01T00:00:00Z', count: 1 }]";

const { certificateArn, hostedZoneId, ...named } = domain;
const firewall = { action: 'count', requestsPerMinutePerIp: 10, requestsPerMinutePerKey: 10 };

test.each([
  ['requestBurst', 1, Infinity],
  ['functionTimeoutSeconds', 8, 28],
  ['authorizerCacheSeconds', 0, 3_600],
] as const)('the setting %s must be an integer from %d to %d', (name, minimum, maximum) => {
  for (const value of [minimum, Math.min(maximum, 1_000_000)])
    expect(problemOf({ [name]: value })).toBeUndefined();
  const range = maximum < Infinity ? `from ${minimum} to ${maximum}` : `of at least ${minimum}`;
  for (const value of [minimum - 1, minimum + 0.5, NaN, Infinity, maximum + 1, undefined, null])
    expect(problemOf({ [name]: value })).toBe(`${name} must be an integer ${range}, not ${value}`);
});

test.each<object>([
  { listPartitions: [firstEpoch, { since: '2027-01-31T06:00:00Z', count: 256 }], requestsPerSecond: 7 },
  { warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 4_000 } },
  { alarmEmail: 'operator+api@example.com' },
  { tracing: true },
  { domain: { ...named, certificateArn } },
  { domain: { ...named, hostedZoneId, disableDefaultEndpoint: true } },
  { domain: { ...domain, name: 'xn--kfer-loa.shop-1.example' } },
  { publicUrl: 'https://api.example.com', domain },
  { publicUrl: 'https://api.example.com:8443/some/shop' },
])('the settings %j are accepted', (changes) => {
  expect(problemOf(changes)).toBeUndefined();
});

const httpsUrl = "publicUrl must be an https URL such as 'https://api.example.com/pet-store'";
const domainName = 'domain.name must be a lowercase domain name such as api.example.com';

// Wrong types must also be rejected, because a deployment does not run the TypeScript compiler.
test.each<[object, string]>([
  [{ listPartitions: 4 }, `listPartitions must be ${epochList}, not 4`],
  [{ listPartitions: [] }, "listPartitions must start with since: '2025-01-01T00:00:00Z'"],
  [
    { listPartitions: [{ since: '2026-01-01T00:00:00Z', count: 1 }] },
    "listPartitions must start with since: '2025-01-01T00:00:00Z', the time from which ids are counted",
  ],
  [
    { listPartitions: [{ ...firstEpoch, count: 0 }] },
    'listPartitions.0.count must be an integer from 1 to 256, not 0',
  ],
  [{ listPartitions: [{ ...firstEpoch, count: 257 }] }, 'must be an integer from 1 to 256, not 257'],
  [
    { listPartitions: [firstEpoch, { since: '2027-01-31', count: 2 }] },
    "listPartitions.1.since must be a time in UTC such as '2027-01-31T06:00:00Z', not '2027-01-31'",
  ],
  [{ listPartitions: [firstEpoch, { since: '2027-13-01T06:00:00Z', count: 2 }] }, 'must be a time in UTC'],
  [
    { listPartitions: [firstEpoch, { since: '2027-01-31T06:00:00Z', count: 2 }, firstEpoch] },
    'listPartitions must be sorted by since, and contain each time once',
  ],
  [{ listPartitions: [firstEpoch, firstEpoch] }, 'listPartitions must be sorted by since, and contain each'],
  [{ listPartitions: [firstEpoch, { count: 2 }] }, 'listPartitions.1.since is missing'],
  [
    { listPartitions: Array.from({ length: 51 }, () => firstEpoch) },
    'listPartitions must contain at most 50 epochs, not 51',
  ],
  [{ listPartitions: [firstEpoch, { since: '2027-02-30T06:00:00Z', count: 2 }] }, 'must be a time in UTC'],
  [{ listPartitions: [firstEpoch, { since: '2027-01-31T24:00:00Z', count: 2 }] }, 'must be a time in UTC'],
  [
    { listPartitions: [firstEpoch, { since: '2207-01-31T06:00:00Z', count: 2 }] },
    'listPartitions must have no epoch that starts in more than 366 days, such as 2207-01-31T06:00:00Z, because',
  ],
  [
    { requestsPerSecond: 1_000, maxReadUnitsPerSecond: 499 },
    'maxReadUnitsPerSecond must be at least 500, because each of the requestsPerSecond can be a list',
  ],
  [
    { warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond: 3_999 } },
    'of at least 4000, not 3999',
  ],
  [{ retainData: undefined }, 'retainData must be true or false, not undefined'],
  [{ firewall: null }, 'firewall must be an object, not null'],
  [
    { firewall: { action: 'block', requestsPerMinutePerKey: 10, requestsPerMinPerIp: 10 } },
    'firewall.requestsPerMinutePerIp is missing; firewall.requestsPerMinPerIp is not a setting',
  ],
  [{ logRetentionDays: 15 }, 'logRetentionDays must be one of 1, 3, 5, 7, 14, 30, '],
  [{ firewall: { ...firewall, action: 'BLOCK' } }, "firewall.action must be 'count' or 'block', not 'BLOCK'"],
  [{ firewall: { ...firewall, requestsPerMinutePerKey: '10' } }, 'must be an integer from 10 to 2000000000'],
  [{ alarmEmial: 'a@b.de' }, 'alarmEmial is not a setting'],
  [{ alarmEmail: undefined }, 'alarmEmail must be an email address or null, not undefined'],
  [{ publicUrl: null }, `${httpsUrl}, not null`],
  [{ publicUrl: 'api.example.com' }, `${httpsUrl}, not 'api.example.com'`],
  [{ publicUrl: 'http://api.example.com' }, `${httpsUrl}, not 'http://api.example.com'`],
  [{ publicUrl: 'http://me:secret@example.com/' }, 'publicUrl must contain no user name or password'],
  [{ publicUrl: 'https://me:secret@example.com/?' }, 'publicUrl must contain no user name or password'],
  [{ publicUrl: 'https://a.example?b' }, "must contain no query or fragment, unlike 'https://a.example?b'"],
  [{ publicUrl: 'https://a.example#' }, "must contain no query or fragment, unlike 'https://a.example#'"],
  [{ publicUrl: 'https://a.example/' }, "must not end with a slash, unlike 'https://a.example/'"],
  [
    { publicUrl: 'https://a.example/v1' },
    "must not end with /v1, unlike 'https://a.example/v1', because the service adds /v1",
  ],
  [
    { publicUrl: 'https://A.example:443/a>b' },
    "must be written as 'https://a.example/a%3Eb', not as 'https://A.example:443/a>b'",
  ],
  [{ domain: named }, 'domain must have a certificateArn, or a hostedZoneId for a certificate'],
  [{ domain: { ...domain, name: undefined } }, `${domainName}, not undefined`],
  [
    { domain: { ...domain, certificateArn: 'x' } },
    'domain.certificateArn must be the ARN of an ACM certificate',
  ],
  [
    { domain: { ...domain, hostedZoneId: '/hostedzone/Z1' } },
    'domain.hostedZoneId must be the id of a Route 53 zone',
  ],
])('the settings %j are rejected with a message that contains "%s"', (changes, problem) => {
  expect(problemOf(changes)).toContain(problem);
  expect(problemOf(changes)).not.toContain('secret');
});

const tomorrow = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, '');
const four = { ...firstEpoch, count: 4 };

test.each<[object, string | undefined]>([
  [{ createsPerSecond: 400, createBurst: 100 }, undefined],
  [
    { createsPerSecond: 401 },
    'createsPerSecond must be at most 400, not 401, because with a count of 1 in listPartitions, ',
  ],
  [
    { createBurst: 101 },
    'createBurst must be at most 100, not 101, because with a count of 1 in listPartitions, ',
  ],
  [{ listPartitions: [four], createsPerSecond: 1_600 }, undefined],
  [{ listPartitions: [four], createsPerSecond: 1_601 }, 'createsPerSecond must be at most 1600, not 1601, '],
  [
    { listPartitions: [four, { since: tomorrow, count: 1 }], createsPerSecond: 401 },
    'createsPerSecond must be at most 400, not 401, ',
  ],
  [{ maxWriteUnitsPerSecond: 100, createsPerSecond: 40, createBurst: 10 }, undefined],
  [
    { maxWriteUnitsPerSecond: 100, createsPerSecond: 41 },
    'createsPerSecond must be at most 40, not 41, because with maxWriteUnitsPerSecond 100, DynamoDB accepts only 50 of the largest items per second',
  ],
])('the rates of creates %j have the problem %j', (changes, problem) => {
  const found = problemOf({ maxWriteUnitsPerSecond: 40_000, ...changes });
  expect(found ?? 'no problem').toContain(problem ?? 'no problem');
});

test.each(['', 'operator', '@example.com', 'operator@', 'two words@example.com', 'a@b@example.com'])(
  'the email address %j is rejected',
  (alarmEmail) => expect(problemOf({ alarmEmail })).toMatch(/^alarmEmail must be an email address or null, /),
);

const tooLong = `${'a'.repeat(64)}.example`;
test.each(
  `https://api.example.com api.example.com. Api.example.com localhost -api.example.com api-.example.com
  192.0.2.1 ${tooLong}`.split(/\s+/),
)('the domain name %s is rejected', (name) => {
  expect(problemOf({ domain: { ...domain, name } })).toContain(domainName);
});

test('a domain name of more than 253 characters is rejected, and abbreviated in the message', () => {
  const problem = problemOf({ domain: { ...domain, name: `${'a.'.repeat(130)}example` } })!;
  expect(problem).toContain(`${domainName}, not 'a.a.`);
  expect(problem.length).toBeLessThan(300);
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

test('two stages with the same domain are rejected', () => {
  const all = { staging: { ...stages.staging, domain }, production: { ...stages.production, domain } };
  const error = new UsageError('Stages staging and production must not share the domain api.example.com.');
  expect(() => stagesOf(all)).toThrow(error);
});

test('two stages with the same public URL are rejected', () => {
  const publicUrl = 'https://api.example.com/shop';
  const all = { staging: { ...stages.staging, publicUrl }, production: { ...stages.production, publicUrl } };
  const error = new UsageError(`Stages staging and production must not share the publicUrl ${publicUrl}.`);
  expect(() => stagesOf(all)).toThrow(error);
});

test('the epochs in docs/runbook.md are accepted', () => {
  const block = codeBlocksIn(readFileSync('docs/runbook.md', 'utf8')).find(
    ({ info }) => info === 'ts infra/stages.ts',
  )!;
  const listPartitions = Array.from(
    block.code.matchAll(/since: '(.+)', count: (\d+)/g),
    ([, since, count]) => ({
      since,
      count: Number(count),
    }),
  );
  expect(listPartitions).toHaveLength(2);
  expect(problemOf({ listPartitions }, new Date('2027-01-01'))).toBeUndefined();
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
function problemOf(changes: object, now = new Date()): string | undefined {
  try {
    stagesOf({ production: { ...stages.production, ...changes } }, {}, now.getTime());
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^infra\/stages\.ts, stage production: (.*)\.$/, '$1');
  }
}
