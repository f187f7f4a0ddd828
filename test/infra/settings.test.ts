import { describe, expect, test } from '@jest/globals';
import { UsageError } from '../../infra/command.ts';
import { stagesOf } from '../../infra/settings.ts';
import { backup, domain, stages } from '../support/stages.ts';

const { certificateArn, hostedZoneId, ...named } = domain;
const firewall = { action: 'count', requestsPerMinutePerIp: 10, requestsPerMinutePerKey: 10 };

test.each([
  ['listPartitions', 1, 1_000],
  ['maxReadUnitsPerSecond', 1, Infinity],
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
  { listPartitions: 4, recordedListPartitions: 4 },
  { alarmEmail: 'operator+api@example.com' },
  { domain: { ...named, certificateArn } },
  { domain: { ...named, hostedZoneId, disableDefaultEndpoint: true } },
  { backup },
  { domain: { ...domain, name: 'xn--kfer-loa.shop-1.example' } },
])('the settings %j are accepted', (changes) => {
  expect(problemOf(changes)).toBeUndefined();
});

const domainName = 'domain.name must be a lowercase domain name such as api.example.com';

// Wrong types must also be rejected, because a deployment does not run the TypeScript compiler.
test.each<[object, string]>([
  [
    { listPartitions: 3, recordedListPartitions: 4 },
    'listPartitions must be at least recordedListPartitions (4)',
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
  [{ backup: { ...backup, vaultArn: 'vault' } }, 'backup.vaultArn must be the ARN of a backup vault, not '],
  [{ backup: { ...backup, retentionDays: 0 } }, 'retentionDays must be an integer from 1 to 36500, not 0'],
  [{ alarmEmial: 'a@b.de' }, 'alarmEmial is not a setting'],
  [{ alarmEmail: undefined }, 'alarmEmail must be an email address or null, not undefined'],
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
])('the settings %j are rejected', (changes, problem) => {
  expect(problemOf(changes)).toContain(problem);
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

const validName = "1 to 30 lowercase letters, but not 'account' or 'local'";
test.each(['my stage!', 'Staging', 'eu1', 'x'.repeat(31), 'account', 'local'])(
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

describe('an ephemeral stage', () => {
  const all = { staging: stages.staging, production: { ...stages.production, domain, backup } };

  test('has the settings of the stage that it is based on, except retainData, domain and backup', () => {
    const drill = { ...stages.production, name: 'drill', retainData: false };
    expect(stagesOf(all, { stage: 'drill', 'based-on': 'production' })).toEqual([drill]);
  });

  const setBasedOn = 'Set `-c based-on=STAGE`, where STAGE is staging or production.';
  test.each([
    [{ stage: 'drill' }, setBasedOn],
    [{ 'based-on': 'production' }, 'Add `-c stage=NAME`, where NAME is the name of the new stage.'],
    [{ stage: 'drill', 'based-on': 'prod' }, setBasedOn],
    [{ stage: 'staging', 'based-on': 'production' }, 'Change `-c stage=staging`, because infra/stages.ts '],
    [{ stage: 'Jane', 'based-on': 'production' }, `NAME in \`-c stage=NAME\` must be ${validName}.`],
  ])('rejects the context %j with an instruction for the operator', (context, message) => {
    expect(() => stagesOf(all, context)).toThrow(message);
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
