import { describe, expect, test } from '@jest/globals';
import { UsageError } from '../../../../infra/command.ts';
import { milliseconds, requireValid, type Values } from '../../../../infra/operate/keys/arguments.ts';
import { generateApiKey } from '../../../../shared/api-keys.ts';
import { done, errorOutput, runModule } from '../../../support/run-command.ts';

const key = generateApiKey('staging');
const stage = 'staging';

const issueTo = (owner: string) => () => requireValid('issue', { stage, owner }, []);
const rotateAfter = (overlap: string) => () => requireValid('rotate', { stage, overlap }, ['key_1']);

test.each(['Hund & Söhne', ' 東京ペット ', '🐶', 'a'.repeat(100)])('the owner %j is accepted', (owner) => {
  expect(issueTo(owner)).not.toThrow();
});

const control = ['\u001B[2J', 'Acme\u2028key_1', '\uD800'];
test.each(['', ' \u00A0', ...control, 'a'.repeat(101), '--json', `Acme ${key}`])(
  'the owner %j is rejected',
  (owner) => expect(issueTo(owner)).toThrow(UsageError),
);

test.each([
  ['30m', 1_800_000],
  ['24h', 86_400_000],
  ['99999d', 8_639_913_600_000],
])('the duration %s is converted to %d milliseconds', (duration, converted) => {
  expect(rotateAfter(duration)).not.toThrow();
  expect(milliseconds(duration)).toBe(converted);
});

test.each(['90', 'd', '0d', '-1d', '1.5d', '90 d', '90D', '90y', '123456d', '', ' 1d', '1d\n'])(
  'the duration %j is rejected',
  (duration) => expect(rotateAfter(duration)).toThrow(UsageError),
);

test.each(['', 'key_', 'key_XYZ', '01a1', ' key_1', 'key_1\n', key])('the key id %j is rejected', (other) => {
  expect(() => requireValid('revoke', { stage }, [other])).toThrow(UsageError);
});

function keys(parameters: string[], environment: Record<string, string> = {}) {
  return runModule('infra/operate/keys/main.ts', parameters, environment);
}

// Error messages must not contain keys, because messages can appear in logs and screenshots.
function expectMessage(message: string, named: RegExp): void {
  expect(message).toMatch(named);
  expect(message).not.toMatch(/\p{C}/u);
  expect(message).not.toContain(key.slice(13, 20));
}

const owner = 'Acme';

test.each<[string, string, Values, string[], RegExp]>([
  ['a missing action', '', {}, [], /issue, list, rotate, revoke/],
  ['a key as the action', key, { stage }, [], /issue, list, rotate, revoke/],
  ['a missing stage', 'list', {}, [], /^--stage is missing/],
  ['a missing owner', 'issue', { stage }, [], /^--owner is missing/],
  ['a second output format', 'issue', { stage, owner, json: true, quiet: true }, [], /^--json and --quiet /],
  ['an unknown state', 'list', { stage, state: key }, [], /^--state .*active, expired, revoked/],
  ['a key as a duration', 'issue', { stage, owner, 'expires-in': key }, [], /^--expires-in .* 90d/],
  ['an option of a different action', 'issue', { stage, owner, yes: true }, [], /--yes/],
  ['a missing id', 'revoke', { stage }, [], /KEY_ID/],
  ['a key as a second id', 'revoke', { stage }, ['key_1', key], /KEY_ID/],
  ['an id for an action without ids', 'list', { stage }, [key], /^Invalid arguments\. .* list --stage STAGE/],
])('%s is rejected with a message that contains no key', (_what, action, values, operands, named) => {
  let message = '';
  try {
    requireValid(action, values, operands);
  } catch (error) {
    message = (error as UsageError).message;
  }
  expectMessage(message, named);
});

describe('npm run keys', () => {
  test('lists only the options of revoke in the help for revoke', async () => {
    const help = done(await keys(['revoke', '--help']));
    expect(help).toMatch(
      /^npm run keys -- revoke KEY_ID --stage STAGE \[--data DIR\] \[--yes\] \[--json\]\n/,
    );
    const options = Array.from(help.matchAll(/^  --([\w-]+) +\w+/gm), ([, name]) => name);
    expect(options).toEqual(['stage', 'data', 'yes', 'json']);
  });

  test.each([
    ['an unknown option', ['list', '--limit', '5'], /--limit/],
    ['an option without its value', ['issue', '--stage', '--owner', owner], /--stage/],
    ['a key as an option', ['revoke', `--${key}`], /Unknown option/],
    ['a key as the stage', ['list', '--stage', key], /--stage/],
  ])('rejects %s with a message that contains no key', async (_what, parameters, named) => {
    expectMessage(errorOutput(await keys(parameters)), named);
  });

  test('names the stages in infra/stages.ts if --stage cannot be the name of a stage', async () => {
    expect(errorOutput(await keys(['list', '--stage', 'Staging']))).toMatch(
      /^--stage must be a stage of infra\/stages\.ts \(staging, .*\) or another deployed stage, whose name must be a letter and up to 29 more letters and digits, in lowercase, but not 'account', 'local' or a version such as 'v1'\.$/,
    );
  });

  test('prints the usage with "--" if npm itself read --stage, but not if the npm option --yes is set', async () => {
    for (const parameters of [['list'], [stage, 'list']]) {
      const line = errorOutput(await keys(parameters, { npm_config_stage: 'staging' }));
      expect(line).toContain('npm run keys -- list --stage STAGE');
    }
    expect(errorOutput(await keys(['list'], { npm_config_yes: 'true' }))).toMatch(/^--stage /);
  });
});
