import { describe, expect, test } from '@jest/globals';
import { InvalidArgumentError } from 'commander';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../../../infra/operate/command.ts';
import { readDuration, readKeyId, readOwner } from '../../../../infra/operate/keys/options.ts';
import { generateApiKey } from '../../../../shared/storage/api-keys.ts';
import { done, errorOutput } from '../../../support/run-command.ts';
import { runInProcess } from '../../../support/run-in-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const key = generateApiKey('staging');

test.each(['Pets & Söhne', ' 東京ペット ', '🐶', 'a'.repeat(100)])('an owner may be called %j', (owner) => {
  expect(readOwner(owner)).toBe(owner.trim());
});

test.each([
  ['nothing', ''],
  ['white space', ' \u00A0'],
  ['what controls the terminal', '\u001B[2J'],
  ['a line break in Unicode', 'Acme\u2028key_1'],
  ['half a character', '\uD800'],
  ['more than 100 characters', 'a'.repeat(101)],
  ['an option', '--json'],
  ['a key', `Acme ${key}`],
])('an owner may not be called %s', (_what, owner) => {
  expect(() => readOwner(owner)).toThrow(InvalidArgumentError);
});

test.each([
  ['30m', 1_800_000],
  ['24h', 86_400_000],
  ['99999d', 8_639_913_600_000],
])('%s is a duration of %d milliseconds', (duration, milliseconds) => {
  expect(readDuration(duration)).toBe(milliseconds);
});

test.each(['90', 'd', '0d', '-1d', '1.5d', '90 d', '90D', '90y', '123456d', '', ' 1d', '1d\n'])(
  '%j is not a duration',
  (duration) => expect(() => readDuration(duration)).toThrow(InvalidArgumentError),
);

test.each(['', 'key_', 'key_XYZ', '01a1', ' key_1', 'key_1\n', key])('%j is not the id of a key', (other) => {
  expect(() => readKeyId(other)).toThrow(UsageError);
});

function keys(parameters: string[], environment: Record<string, string> = {}) {
  return runInProcess('infra/operate/keys/main.ts', parameters, { environment });
}

describe('the command', () => {
  const folder = temporaryFolder();
  const staging = ['--stage', 'staging'];
  const issue = ['issue', ...staging, '--owner', 'Acme'];

  test('explains an action, and does not count in milliseconds', async () => {
    const stdout = done(await keys(['rotate', '--help']));
    expect(stdout).toMatch(/^Usage: npm run keys -- rotate .*--overlap <duration> .*default: 24h\)/s);
  });

  test('explains itself once and fails without an action', async () => {
    const { code, stdout, stderr } = await keys([]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.match(/^Usage: npm run keys -- /gm)).toHaveLength(1);
  });

  // What a terminal shows is kept in logs and screenshots.
  test.each([
    ['a missing stage', ['list'], /^Required option '--stage <stage>' not specified\.$/],
    ['a missing owner', ['issue', ...staging], /--owner .* not specified\.$/],
    ['two forms of output', [...issue, '--json', '--quiet'], /--quiet.*--json.*\.$/],
    ['a rotation of nothing', ['rotate', ...staging], /^Missing required argument 'keyId'\.$/],
    [
      'an owner that controls the terminal',
      ['issue', ...staging, '--owner', '\u001B[2J\nAcme\u202E'],
      /--owner .* is invalid\. It must be a name of 1 to 100 visible characters\.$/,
    ],
    ['a key as the action', [key, ...staging], /^Unknown command 'pets_…'\.$/],
    ['a key as its id', ['revoke', key, ...staging], /^The id of a key is .*\.$/],
    ['a key as a second id', ['revoke', 'key_1', key, ...staging], /^Too many arguments for 'revoke'\./],
    ['a key as the stage', ['list', '--stage', key], /^--stage must be the name of a stage on AWS, .*\.$/],
    [
      'a key as a duration',
      [...issue, '--expires-in', key],
      /--expires-in .*'pets_…' is invalid\. It must be a number of days, hours or minutes, such as 90d\.$/,
    ],
  ])('rejects %s in a sentence that quotes no key', async (_what, parameters, sentence) => {
    const line = errorOutput(await keys(parameters));
    expect(line).toMatch(sentence);
    expect(line).not.toMatch(/\p{C}/u);
    expect(line).not.toContain(key.slice(13, 20));
  });

  test('rejects options that npm took for its own', async () => {
    expect(errorOutput(await keys(['list'], { npm_config_stage: 'staging' }))).toBe(
      'Write two dashes before the command: npm run keys -- list --stage staging.',
    );
  });

  test('rejects a data folder with an incomplete note of a local service', async () => {
    writeFileSync(join(folder, 'service.json'), '{"stage":');
    expect(errorOutput(await keys(['list', '--stage', 'local', '--data', folder]))).toBe(
      `No local service runs on ${folder}: start it with npm start.`,
    );
  });
});
