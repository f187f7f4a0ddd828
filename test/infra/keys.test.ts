import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const command = fileURLToPath(new URL('../../infra/keys.ts', import.meta.url));

interface Outcome {
  code: number | null;
  output: string;
  errors: string;
}

/** Runs the operator command, with nothing of AWS within its reach. */
function keys(...args: string[]): Outcome {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    env: { AWS_EC2_METADATA_DISABLED: 'true', HOME: tmpdir() },
    encoding: 'utf8',
    timeout: 10_000,
  });
  return { code: status, output: stdout, errors: stderr };
}

describe('the command for keys', () => {
  test('explains itself when asked', () => {
    const { code, output, errors } = keys('--help');
    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(output).toMatch(/npm run keys -- issue --stage .* --owner NAME/);
    for (const option of ['--stage', '--owner', '--expires-in', '--json', '--quiet', '--data']) {
      expect(output).toMatch(new RegExp(`^ +${option} `, 'm'));
    }
  });

  test.each([
    ['nothing', []],
    ['an action that it does not know', ['destroy', '--stage', 'staging', '--owner', 'Acme']],
    ['more than one action', ['issue', 'issue', '--stage', 'staging', '--owner', 'Acme']],
  ])('explains itself and fails when told %s', (_what, args) => {
    const { code, output, errors } = keys(...args);
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toMatch(/^npm run keys -- issue /);
    expect(errors).not.toMatch(/^\s+at /m);
  });

  describe('refuses in one sentence', () => {
    const owner = ['--owner', 'Acme'];
    const staging = ['--stage', 'staging'];

    test.each([
      ['a missing owner', staging, /^--owner .* missing\.$/],
      ['an owner of white space', [...staging, '--owner', '  '], /^--owner .* missing\.$/],
      ['a missing stage', owner, /^--stage must be staging, production or local\.$/],
      ['an unknown stage', [...owner, '--stage', 'test'], /^--stage must be staging, production or local\.$/],
      ...['soon', '90', '0d', '-1d', '1.5d', '90 d', '90y', '123456d', ''].map(
        (duration): [string, string[], RegExp] => [
          `the duration ${JSON.stringify(duration)}`,
          [...staging, ...owner, `--expires-in=${duration}`],
          /^--expires-in takes a number of days, hours or minutes such as 90d, not .*\.$/,
        ],
      ),
      ['an unknown option', [...staging, ...owner, '--forever'], /^Unknown option '--forever'/],
    ])('%s', (_what, args, sentence) => {
      expect(refusal(keys('issue', ...args))).toMatch(sentence);
    });

    describe('a folder where no local service runs,', () => {
      test('naming it when it does not exist', () => {
        const folder = join(tmpdir(), 'pet-store-without-a-service');
        const sentence = new RegExp(`^No local service runs on ${folder}: start it with npm start\\.$`);
        expect(refusal(local(folder))).toMatch(sentence);
      });

      test('and one whose note of the service is cut off', () => {
        const folder = mkdtempSync(join(tmpdir(), 'pet-store-keys-'));
        try {
          writeFileSync(join(folder, 'service.json'), '{"stage":');
          expect(refusal(local(folder))).toMatch(/^No local service runs on /);
        } finally {
          rmSync(folder, { recursive: true });
        }
      });
    });
  });
});

function local(folder: string): Outcome {
  return keys('issue', '--stage', 'local', '--owner', 'Acme', '--data', folder);
}

/** The one line that the command says when it refuses. */
function refusal({ code, output, errors }: Outcome): string {
  expect({ code, output }).toEqual({ code: 1, output: '' });
  const [line, ...rest] = errors.split('\n');
  expect(rest).toEqual(['']);
  return line!;
}
