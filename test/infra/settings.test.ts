import { describe, expect, test } from '@jest/globals';
import { UsageError } from '../../infra/command.ts';
import { stagesOf } from '../../infra/settings.ts';
import { domain, stages } from '../support/stages.ts';

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
  { requestsPerSecond: 7 },
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

const ofIndexKey =
  'because one key of an index accepts only 1000 write units per second (docs/decisions.md, ';

test.each<[object, string | undefined]>([
  [{ createsPerSecond: 400, createBurst: 100 }, undefined],
  [{ createsPerSecond: 401 }, `createsPerSecond must be at most 400, not 401, ${ofIndexKey}`],
  [{ createBurst: 101 }, `createBurst must be at most 100, not 101, ${ofIndexKey}`],
  [{ maxWriteUnitsPerSecond: 100, createsPerSecond: 40, createBurst: 10 }, undefined],
  [
    { maxWriteUnitsPerSecond: 100, createsPerSecond: 41 },
    'createsPerSecond must be at most 40, not 41, because maxWriteUnitsPerSecond is 100',
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
