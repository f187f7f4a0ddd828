import { describe, expect, test } from '@jest/globals';
import { checkSettings, checkStages, SettingsError, stagesOf } from '../../infra/settings.ts';
import type { StageSettings } from '../../infra/settings.ts';
import { stages } from '../../infra/stages.ts';

const domain = {
  name: 'pets.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000',
  hostedZoneId: 'Z0000000000000000000',
};
const firewall = { requestsPerMinutePerIp: 10, requestsPerMinutePerKey: 10 };

test.each([
  ['listPartitions', 1, 1_000],
  ['recordedListPartitions', 1, 1_000],
  ['recoveryDays', 1, 35],
  ['maxReadUnitsPerSecond', 1, Infinity],
  ['maxWriteUnitsPerSecond', 1, Infinity],
  // The synth checks which of these CloudWatch offers.
  ['logRetentionDays', 1, Infinity],
  // Below the 29 seconds after which API Gateway reports a failure to the client.
  ['functionTimeoutSeconds', 6, 28],
  ['authorizerCacheSeconds', 0, 3_600],
  ['requestsPerSecond', 1, Infinity],
  ['requestBurst', 1, Infinity],
] as const)('the setting %s is a whole number from %d to %d', (name, least, most) => {
  // So that neither contradicts the number in question.
  const others = { listPartitions: 1_000, recordedListPartitions: 1 };
  for (const value of [least, Math.min(most, 1_000_000)]) {
    expect(complaintAbout({ ...others, [name]: value })).toBeUndefined();
  }
  const range = most < Infinity ? `from ${least} to ${most}` : `of at least ${least}`;
  for (const value of [least - 1, least + 0.5, NaN, Infinity, most + 1]) {
    expect(complaintAbout({ [name]: value })).toBe(`${name} must be a whole number ${range}, not ${value}`);
  }
});

describe('the settings of a stage may have', () => {
  test.each<[string, Partial<StageSettings>]>([
    ['as many list partitions as recorded', { listPartitions: 4, recordedListPartitions: 4 }],
    ['the narrowest limits of AWS WAF', { firewall }],
    ['subscribers of the topic only', { alarmEmail: null }],
    ['an e-mail address', { alarmEmail: 'operator+pets@example.com' }],
    ['a domain', { domain }],
    ['a domain with digits and hyphens', { domain: { ...domain, name: 'xn--kfer-loa.shop-1.example' } }],
  ])('%s', (_what, changes) => {
    expect(complaintAbout(changes)).toBeUndefined();
  });
});

// Types would catch some of it, but nothing checks them before a deployment.
describe('the settings of a stage must not have', () => {
  const perKey = 'firewall.requestsPerMinutePerKey must be a whole number from 10 to 2000000000';
  const domainName =
    'domain.name must be a name in lower case without scheme or path, such as pets.example.com';

  test.each<[object, string]>([
    [
      { listPartitions: 3, recordedListPartitions: 4 },
      'listPartitions must not shrink below the recorded 4, but is 3: pets under the keys beyond would vanish from lists',
    ],
    [{ requestsPerSecond: '100' }, "requestsPerSecond must be a whole number of at least 1, not '100'"],
    [{ keepsData: undefined }, 'keepsData must be true or false, not undefined'],
    [{ firewall: null }, 'firewall must be an object of settings, not null'],
    [{ firewall: { requestsPerMinutePerKey: 10 } }, 'firewall.requestsPerMinutePerIp is missing'],
    [{ firewall: { ...firewall, requestsPerMinutePerKey: 9 } }, `${perKey}, not 9`],
    [{ firewall: { ...firewall, perKey: 10 } }, 'firewall.perKey is no setting'],
    [{ alarmEmial: 'a@b.de' }, 'alarmEmial is no setting'],
    [{ alarmEmail: undefined }, 'alarmEmail must be an e-mail address or null, not undefined'],
    ...['', 'operator', '@example.com', 'operator@', 'two words@example.com', 'a@b@example.com'].map(
      (alarmEmail): [object, string] => [
        { alarmEmail },
        `alarmEmail must be an e-mail address or null, not '${alarmEmail}'`,
      ],
    ),
    ...[
      'https://pets.example.com',
      'pets.example.com.',
      'Pets.example.com',
      'localhost',
      '-pets.example.com',
      'pets-.example.com',
      '192.0.2.1',
      `${'a'.repeat(64)}.example`,
    ].map((name): [object, string] => [{ domain: { ...domain, name } }, `${domainName}, not '${name}'`]),
    [{ domain: { ...domain, name: undefined } }, `${domainName}, not undefined`],
    [{ domain: { name: domain.name, hostedZoneId: 'Z1' } }, 'domain.certificateArn is missing'],
    [
      { domain: { ...domain, certificateArn: 'x' } },
      "domain.certificateArn must be the ARN of a certificate in AWS Certificate Manager, not 'x'",
    ],
    [
      { domain: { ...domain, hostedZoneId: '/hostedzone/Z1' } },
      "domain.hostedZoneId must be the id of a Route 53 zone, such as Z0123456789ABCDEFGHIJ, not '/hostedzone/Z1'",
    ],
  ])('%j', (changes, complaint) => {
    expect(complaintAbout(changes)).toBe(complaint);
  });

  test('a domain name of more than 253 characters, of which the sentence repeats the beginning', () => {
    const complaint = complaintAbout({ domain: { ...domain, name: `${'a.'.repeat(130)}example` } })!;
    expect(complaint).toContain(`${domainName}, not 'a.a.`);
    expect(complaint.length).toBeLessThan(300);
  });
});

describe('the stages', () => {
  test.each(['my stage!', 'Staging', 'eu1', 'x'.repeat(31), 'account', 'local'])(
    'must not be named %j',
    (name) => {
      expect(() => checkStages({ [name]: stages.staging })).toThrow(
        new SettingsError(
          `A stage's name must consist of at most 30 lower-case letters and be neither account nor local, not '${name}'.`,
        ),
      );
    },
  );

  test('must not have the same domain', () => {
    const all = { staging: { ...stages.staging, domain }, production: { ...stages.production, domain } };
    expect(() => checkStages(all)).toThrow(
      new SettingsError('The stages staging and production have the same domain pets.example.com.'),
    );
  });
});

describe('a stage on demand', () => {
  const all = { staging: stages.staging, production: { ...stages.production, domain } };

  test('is the only stage, with the settings of another but for its data and its domain', () => {
    const drill = { ...stages.production, keepsData: false };
    expect(stagesOf(all, { stage: 'drill', like: 'production' })).toEqual({ drill });
  });

  test.each([
    { stage: 'drill' },
    { like: 'production' },
    { stage: 'drill', like: 'prod' },
    { stage: 'staging', like: 'production' },
    { stage: 'account', like: 'production' },
    { stage: 'drill-2', like: 'production' },
  ])('is not described by %j', (context) => {
    expect(() => stagesOf(all, context)).toThrow(
      /^A stage on demand needs a free name of at most 30 lower-case letters in -c stage and staging or production in -c like, not .* and .*\.$/,
    );
  });
});

/** @returns what is said of changed settings between the name of the stage and the full stop, or undefined if they are accepted. */
function complaintAbout(changes: object): string | undefined {
  try {
    checkSettings('production', { ...stages.production, ...changes });
    return undefined;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.message.replace(/^Stage production: (.*)\.$/, '$1');
  }
}
