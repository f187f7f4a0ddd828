import { describe, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateApiKey } from '../../../../shared/storage/api-keys.ts';
import { done, refusal } from '../../../support/outcomes.ts';
import { type Outcome, runModule } from '../../../support/run-command.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();

function keys(parameters: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  return runModule('infra/operate/keys/main.ts', parameters, environment);
}

describe('the command for keys', () => {
  test('explains itself when asked', async () => {
    const stdout = done(await keys(['--help']));
    expect(stdout).toMatch(/^Usage: npm run keys -- /);
    const actions = Array.from(stdout.matchAll(/^ {2}([a-z]+)/gm), ([, action]) => action);
    expect(actions).toEqual(['issue', 'list', 'rotate', 'revoke']);
  });

  test('explains an action when asked, and does not count in milliseconds', async () => {
    const stdout = done(await keys(['rotate', '--help']));
    expect(stdout).toMatch(/^Usage: npm run keys -- rotate /);
    expect(stdout).toMatch(/--overlap <duration> .*default: 24h\)/);
  });

  test('explains itself once and fails when told nothing', async () => {
    const { code, stdout, stderr } = await keys([]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.match(/^Usage: npm run keys -- /gm)).toHaveLength(1);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  describe('refuses in one sentence', () => {
    const staging = ['--stage', 'staging'];
    const issue = ['issue', ...staging, '--owner', 'Acme'];

    test.each([
      ['a missing stage', ['list'], /--stage .* not specified\.$/],
      ['a missing owner', ['issue', ...staging], /--owner .* not specified\.$/],
      ['an unknown option', [...issue, '--forever'], /^Unknown option '--forever'\.$/],
      ['two forms of output', [...issue, '--json', '--quiet'], /--quiet.*--json.*\.$/],
      ['a rotation of nothing', ['rotate', ...staging], /^Missing required argument 'keyId'\.$/],
      [
        'an owner that steers the terminal and breaks its lines',
        ['issue', ...staging, '--owner', '\u001B[2J\nAcme\u202E'],
        /--owner .* is invalid\. It must be a name of 1 to 100 visible characters\.$/,
      ],
    ])('%s', async (_what, parameters, sentence) => {
      const line = refusal(await keys(parameters));
      expect(line).toMatch(sentence);
      expect(line).not.toMatch(/\p{C}/u);
    });

    // What a terminal shows is kept in logs and screenshots.
    test.each([
      ['an action', (key: string) => [key, ...staging], /^Unknown command 'pets_…'\.$/],
      ['the id of a key', (key: string) => ['revoke', key, ...staging], /^The id of a key is .*\.$/],
      [
        'a second id',
        (key: string) => ['revoke', 'key_1', key, ...staging],
        /^Too many arguments for 'revoke'\./,
      ],
      [
        'a stage',
        (key: string) => ['list', '--stage', key],
        /'pets_…' is invalid\. .*staging, production, local\.$/,
      ],
      [
        'a duration',
        (key: string) => [...issue, '--expires-in', key],
        /--expires-in .*'pets_…' is invalid\. It must be a number of days, hours or minutes, such as 90d\.$/,
      ],
    ])('a key in the place of %s, without saying it', async (_what, parametersWith, sentence) => {
      const key = generateApiKey('staging');
      const line = refusal(await keys(parametersWith(key)));
      expect(line).toMatch(sentence);
      expect(line).not.toContain(key.slice(13, 20));
    });

    test('options that npm took for its own', async () => {
      expect(refusal(await keys(['list'], { npm_config_stage: 'staging' }))).toBe(
        'Write two dashes before the command: npm run keys -- list --stage staging.',
      );
    });

    test('a folder where no local service is', async () => {
      const parameters = ['list', '--stage', 'local', '--data', join(folder, 'nowhere')];
      expect(refusal(await keys(parameters))).toBe(
        `No local service runs on ${join(folder, 'nowhere')}: start it with npm start.`,
      );
    });

    test('a folder whose note of the local service is cut off', async () => {
      writeFileSync(join(folder, 'service.json'), '{"stage":');
      expect(refusal(await keys(['list', '--stage', 'local', '--data', folder]))).toBe(
        `No local service runs on ${folder}: start it with npm start.`,
      );
    });
  });
});
