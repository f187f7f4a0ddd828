import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { checkSettings, checkStages, SettingsError, type StageSettings } from '../../infra/settings.ts';
import { stages } from '../../infra/stages.ts';
import { cdkSynth } from '../support/assembly.ts';
import { stageNames } from '../support/stack-template.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The least and the most that may stand in a setting. */
const bounds = {
  listPartitions: [1, 1_000],
  recordedListPartitions: [1, 1_000],
  recoveryDays: [1, 35],
  maxReadUnitsPerSecond: [1, Infinity],
  maxWriteUnitsPerSecond: [1, Infinity],
  functionTimeoutSeconds: [6, 28],
  authorizerCacheSeconds: [0, 3_600],
  requestsPerSecond: [1, Infinity],
  requestBurst: [1, Infinity],
} satisfies Partial<Record<keyof StageSettings, [least: number, most: number]>>;

const names = Object.keys(bounds) as (keyof typeof bounds)[];

const domain = {
  name: 'pets.example.com',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000',
  hostedZoneId: 'Z0000000000000000000',
};
const firewall = { requestsPerMinutePerAddress: 10, requestsPerMinutePerKey: 10 };

describe.each(stageNames)('the settings of %s', (stage) => {
  describe.each(names)('%s', (name) => {
    const [least, most] = bounds[name];

    test.each([least - 1, least + 0.5, NaN, Infinity, ...(most < Infinity ? [most + 1] : [])])(
      'must not be %d',
      (value) => {
        const sentence = refusalOf(stage, { [name]: value });
        expect(sentence).toMatch(
          new RegExp(`^Stage ${stage}: ${name} must be a whole number (of at|from) .*, not ${value}\\.$`),
        );
        expect(sentence).toContain(most < Infinity ? `from ${least} to ${most}` : `of at least ${least}`);
      },
    );
  });

  test('may all be as small as they get', () => {
    const smallest = names.map((name) => [name, bounds[name][0]]);
    expectNoRefusal(stage, Object.fromEntries(smallest));
  });

  test('may all be as large as they get', () => {
    const largest = names.map((name) => [name, Math.min(bounds[name][1], 1_000_000)]);
    expectNoRefusal(stage, Object.fromEntries(largest));
  });

  describe('listPartitions', () => {
    test('must not shrink below what the last finished deployment had', () => {
      const sentence = refusalOf(stage, { listPartitions: 3, recordedListPartitions: 4 });
      expect(sentence).toMatch(
        /^Stage \w+: listPartitions must not shrink below the recorded 4, but is 3: .*\.$/,
      );
    });

    test.each([4, 5])('may be %d where it was 4', (listPartitions) => {
      expectNoRefusal(stage, { listPartitions, recordedListPartitions: 4 });
    });
  });

  describe('requestsPerSecond', () => {
    test('must not exceed the burst', () => {
      const sentence = refusalOf(stage, { requestsPerSecond: 101, requestBurst: 100 });
      expect(sentence).toMatch(
        /^Stage \w+: requestsPerSecond must not exceed requestBurst, but is 101 with a burst of 100: .*\.$/,
      );
    });

    test('may be the burst', () => {
      expectNoRefusal(stage, { requestsPerSecond: 100, requestBurst: 100 });
    });
  });

  describe('logRetentionDays', () => {
    test.each([0, 15, 100, 365.5])('must not be %d', (logRetentionDays) => {
      expect(refusalOf(stage, { logRetentionDays })).toBe(
        `Stage ${stage}: logRetentionDays must be a time that CloudWatch offers, such as 14, 30, 90 or 365, not ${logRetentionDays}.`,
      );
    });

    test.each([1, 14, 365, 3_653])('may be %d', (logRetentionDays) => {
      expectNoRefusal(stage, { logRetentionDays });
    });
  });

  describe('firewall', () => {
    test.each(['requestsPerMinutePerAddress', 'requestsPerMinutePerKey'])(
      'must not be without %s',
      (limit) => {
        const limits = Object.fromEntries(Object.entries(firewall).filter(([name]) => name !== limit));
        expect(refusalOf(stage, { firewall: limits as typeof firewall })).toBe(
          `Stage ${stage}: firewall.${limit} is missing.`,
        );
      },
    );

    test.each([9, 10.5, NaN, 2_000_000_001])('must not have a limit of %d', (limit) => {
      expect(refusalOf(stage, { firewall: { ...firewall, requestsPerMinutePerKey: limit } })).toBe(
        `Stage ${stage}: firewall.requestsPerMinutePerKey must be a whole number from 10 to 2000000000, not ${limit}.`,
      );
    });

    test('may be as narrow as AWS WAF takes it', () => {
      expectNoRefusal(stage, { firewall });
    });
  });

  describe('alarmEmail', () => {
    test.each(['', 'operator', '@example.com', 'operator@', 'two words@example.com', 'a@b@example.com'])(
      'must not be %j',
      (alarmEmail) => {
        expect(refusalOf(stage, { alarmEmail })).toBe(
          `Stage ${stage}: alarmEmail must be an e-mail address, not '${alarmEmail}'.`,
        );
      },
    );

    test('may be an address', () => {
      expectNoRefusal(stage, { alarmEmail: 'operator+pets@example.com' });
    });
  });

  describe('domain', () => {
    test.each([
      '',
      'https://pets.example.com',
      'pets.example.com/v1',
      'pets.example.com.',
      'Pets.example.com',
      'pets example.com',
      'localhost',
      '-pets.example.com',
      'pets-.example.com',
      '192.0.2.1',
    ])('must not be %j', (name) => {
      const sentence = refusalOf(stage, { domain: { ...domain, name } });
      expect(sentence.startsWith(`Stage ${stage}: domain.name must be a name in lower case without `)).toBe(
        true,
      );
      expect(sentence.endsWith(`, not '${name}'.`)).toBe(true);
    });

    test.each(['pets.example.com', 'example.com', 'xn--kfer-loa.shop-1.example'])(
      'may be %s, with certificate and zone',
      (name) => {
        expectNoRefusal(stage, { domain: { ...domain, name } });
      },
    );

    test.each(['name', 'certificateArn', 'hostedZoneId'] as const)('must not be without %s', (missing) => {
      const { [missing]: _, ...rest } = domain;
      expect(refusalOf(stage, { domain: rest as typeof domain })).toBe(
        `Stage ${stage}: domain.${missing} is missing.`,
      );
    });
  });
});

// What types would catch, but nobody asks them before a deployment.
describe('cdk synth does not take', () => {
  test.each<[string, object, string]>([
    ['a setting left out', { keepsData: undefined }, 'keepsData must be true or false, not undefined'],
    [
      'yes or no in quotes',
      { deploysByCanary: 'false' },
      "deploysByCanary must be true or false, not 'false'",
    ],
    [
      'a number in quotes',
      { requestsPerSecond: '100' },
      "requestsPerSecond must be a whole number of at least 1, not '100'",
    ],
    [
      'a name in place of days',
      { logRetentionDays: 'TWO_WEEKS' },
      "logRetentionDays must be a time that CloudWatch offers, such as 14, 30, 90 or 365, not 'TWO_WEEKS'",
    ],
    [
      'a list for a text',
      { alarmEmail: ['a@b.de'] },
      "alarmEmail must be an e-mail address, not [ 'a@b.de' ]",
    ],
    ['nothing for a web ACL', { firewall: null }, 'firewall must be an object of settings, not null'],
    ['a misspelt setting', { alarmEmial: 'a@b.de' }, 'alarmEmial is no setting'],
    ['a misspelt limit', { firewall: { ...firewall, perKey: 10 } }, 'firewall.perKey is no setting'],
    [
      'any text for a certificate',
      { domain: { ...domain, certificateArn: 'x' } },
      "domain.certificateArn must be the ARN of a certificate in AWS Certificate Manager, not 'x'",
    ],
    [
      'the path of a zone for its id',
      { domain: { ...domain, hostedZoneId: '/hostedzone/Z1' } },
      "domain.hostedZoneId must be the id of a Route 53 zone, such as Z0123456789ABCDEFGHIJ, not '/hostedzone/Z1'",
    ],
  ])('%s', (_what, changes, sentence) => {
    expect(refusalOf('production', changes)).toBe(`Stage production: ${sentence}.`);
  });

  test('a setting that is not there', () => {
    const { keepsData: _, ...settings } = stages.production;
    const error = errorOf(() => checkSettings('production', settings as StageSettings));
    expect(error).toEqual(new SettingsError('Stage production: keepsData is missing.'));
  });

  test('a stage without settings', () => {
    const all = { staging: null } as unknown as Record<string, StageSettings>;
    expect(errorOf(() => checkStages(all))).toEqual(
      new SettingsError('Stage staging: it must be an object of settings, not null.'),
    );
  });

  test.each(['my stage!', 'Staging', 'eu1', 'account', 'local'])('a stage named %j', (name) => {
    expect(errorOf(() => checkStages({ [name]: stages.staging }))).toEqual(
      new SettingsError(
        `A stage's name must consist of lower-case letters and be neither account nor local, not '${name}'.`,
      ),
    );
  });

  test('a long text, of which the sentence repeats the beginning', () => {
    const sentence = refusalOf('staging', { alarmEmail: 'very long \n'.repeat(1_000) });
    expect(sentence).toHaveLength(sentence.split('\n')[0]!.length);
    expect(sentence.length).toBeLessThan(300);
  });

  test.each([`${'a'.repeat(64)}.example`, `${'a.'.repeat(130)}example`])(
    'a domain name that is too long',
    (name) => {
      expect(refusalOf('staging', { domain: { ...domain, name } })).toContain(
        'domain.name must be a name in lower case',
      );
    },
  );

  test('one domain for two stages', () => {
    const all = {
      staging: { ...stages.staging, domain },
      production: { ...stages.production, domain },
    };
    expect(errorOf(() => checkStages(all))).toEqual(
      new SettingsError('The stages staging and production have the same domain pets.example.com.'),
    );
  });

  test('nothing of the stages as they are', () => {
    expect(errorOf(() => checkStages(stages))).toBeUndefined();
  });
});

describe('cdk synth with a bad setting', () => {
  const folder = temporaryFolder();

  test('fails with the sentence alone', async () => {
    const { code, stdout, stderr } = await cdkSynth(join(folder, 'assembly'), [], {
      'infra/stages.ts': 'Object.assign(stages.staging, { requestsPerSecond: 300 });',
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      'Stage staging: requestsPerSecond must not exceed requestBurst, but is 300 with a burst of 200: the rate would never be reached.',
      // By which the CDK ends.
      'node infra/app.ts: Subprocess exited with error 1',
    ]);
  }, 60_000);
});

/** The one sentence for which there is no stack with these settings. */
function refusalOf(stage: keyof typeof stages, changes: Partial<StageSettings>): string {
  const error = errorOf(() => checkSettings(stage, { ...stages[stage], ...changes }));
  expect(error).toBeInstanceOf(SettingsError);
  const { message } = error!;
  // What a sentence repeats may hold anything.
  const [sentence] = message.split(', not ');
  expect(sentence).not.toMatch(/[\n.!?] /);
  expect(message).toMatch(/^.*\.$/);
  return message;
}

function expectNoRefusal(stage: keyof typeof stages, changes: Partial<StageSettings>): void {
  expect(errorOf(() => checkSettings(stage, { ...stages[stage], ...changes }))).toBeUndefined();
}

function errorOf(action: () => unknown): Error | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
