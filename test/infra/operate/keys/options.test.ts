import { describe, expect, test } from '@jest/globals';
import { InvalidArgumentError } from 'commander';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../../infra/command.ts';
import { readDuration, readKeyId, readOwner } from '../../../../infra/operate/keys/options.ts';
import { generateApiKey } from '../../../../shared/storage/api-keys.ts';
import { done, errorOutput } from '../../../support/run-command.ts';
import { runInProcess } from '../../../support/run-in-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const key = generateApiKey('staging');

test.each(['Pets & Söhne', ' 東京ペット ', '🐶', 'a'.repeat(100)])('accepts %j as an owner', (owner) => {
  expect(readOwner(owner)).toBe(owner.trim());
});

test.each([
  ['an empty name', ''],
  ['white space', ' \u00A0'],
  ['a terminal control sequence', '\u001B[2J'],
  ['a Unicode line separator', 'Acme\u2028key_1'],
  ['an unpaired surrogate', '\uD800'],
  ['more than 100 characters', 'a'.repeat(101)],
  ['an option', '--json'],
  ['a key', `Acme ${key}`],
])('rejects %s as an owner', (_what, owner) => {
  expect(() => readOwner(owner)).toThrow(InvalidArgumentError);
});

test.each([
  ['30m', 1_800_000],
  ['24h', 86_400_000],
  ['99999d', 8_639_913_600_000],
])('converts the duration %s to %d milliseconds', (duration, milliseconds) => {
  expect(readDuration(duration)).toBe(milliseconds);
});

test.each(['90', 'd', '0d', '-1d', '1.5d', '90 d', '90D', '90y', '123456d', '', ' 1d', '1d\n'])(
  'rejects %j as a duration',
  (duration) => expect(() => readDuration(duration)).toThrow(InvalidArgumentError),
);

test.each(['', 'key_', 'key_XYZ', '01a1', ' key_1', 'key_1\n', key])('rejects %j as a key id', (other) => {
  expect(() => readKeyId(other)).toThrow(UsageError);
});

function keys(parameters: string[], environment: Record<string, string> = {}) {
  return runInProcess('infra/operate/keys/main.ts', parameters, { environment });
}

describe('npm run keys', () => {
  const folder = temporaryFolder();
  const staging = ['--stage', 'staging'];
  const issue = ['issue', ...staging, '--owner', 'Acme'];

  test('prints the options of an action', async () => {
    const stdout = done(await keys(['rotate', '--help']));
    expect(stdout).toMatch(/^Usage: npm run keys -- rotate .*--overlap <duration> .*default: 24h\)/s);
  });

  test('prints its usage and fails if the action is missing', async () => {
    const { code, stdout, stderr } = await keys([]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.match(/^Usage: npm run keys -- /gm)).toHaveLength(1);
  });

  // Error messages must not contain keys, because messages can appear in logs and screenshots.
  test.each([
    ['a missing stage', ['list'], /^Required option '--stage <stage>' not specified\.$/],
    ['a missing owner', ['issue', ...staging], /--owner .* not specified\.$/],
    ['two output formats', [...issue, '--json', '--quiet'], /--quiet.*--json.*\.$/],
    ['a rotation without a key id', ['rotate', ...staging], /^Missing required argument 'keyId'\.$/],
    [
      'an owner with control characters',
      ['issue', ...staging, '--owner', '\u001B[2J\nAcme\u202E'],
      /--owner .* is invalid\. It must be a name of 1 to 100 visible characters\.$/,
    ],
    ['a key as the action', [key, ...staging], /^Unknown command 'pets_…'\.$/],
    ['a key as the key id', ['revoke', key, ...staging], /^A key id consists of key_ .*\.$/],
    ['a key as a second id', ['revoke', 'key_1', key, ...staging], /^Too many arguments for 'revoke'\./],
    ['a key as the stage', ['list', '--stage', key], /^--stage must be a deployed stage, .*\.$/],
    [
      'a key as a duration',
      [...issue, '--expires-in', key],
      /--expires-in .*'pets_…' is invalid\. It must be a number of days, hours or minutes, such as 90d, 12h or 30m\.$/,
    ],
  ])('rejects %s with a message that contains no key', async (_what, parameters, sentence) => {
    const line = errorOutput(await keys(parameters));
    expect(line).toMatch(sentence);
    expect(line).not.toMatch(/\p{C}/u);
    expect(line).not.toContain(key.slice(13, 20));
  });

  test('reports an option that npm consumed', async () => {
    expect(errorOutput(await keys(['list'], { npm_config_stage: 'staging' }))).toBe(
      'npm consumed the option --stage. Put two dashes before the action: npm run keys -- list --stage staging.',
    );
  });

  test('rejects a data folder that contains incomplete connection data', async () => {
    writeFileSync(join(folder, 'service.json'), '{"stage":');
    expect(errorOutput(await keys(['list', '--stage', 'local', '--data', folder]))).toBe(
      `No local service is running with the data folder ${folder}. Start one with npm start.`,
    );
  });
});
