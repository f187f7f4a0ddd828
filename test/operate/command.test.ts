import { describe, expect, test } from '@jest/globals';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathOption, plain, projectRoot, runWithOptions, UsageError } from '../../infra/command.ts';
import { generateApiKey } from '../../shared/api-keys.ts';
import { done, errorOutput, type Outcome } from '../support/run-command.ts';
import { withStandIns } from './in-process.ts';

const USAGE = 'npm run hello -- [--name NAME]\n\nGreets.';

/** Runs a command with the option --name, which greets, or throws `error`. */
function hello(words: string[], environment: Record<string, string> = {}, error?: Error): Promise<Outcome> {
  const run = () =>
    runWithOptions(USAGE, { name: { type: 'string' } }, ({ name = 'Mia' }) => {
      if (error) throw error;
      console.log(`Hello, ${name}`);
    });
  return withStandIns(words, run, { environment });
}

describe('a command', () => {
  test('gets its options, also after the two dashes that pnpm passes on', async () => {
    expect(done(await hello(['--name', 'Jo']))).toBe('Hello, Jo\n');
    expect(done(await hello(['--', '--name', 'Jo']))).toBe('Hello, Jo\n');
    expect(done(await hello([]))).toBe('Hello, Mia\n');
  });

  test('prints its help', async () => {
    expect(done(await hello(['--name', 'Jo', '--help']))).toBe(`${USAGE}\n`);
  });

  test('does not run with options that npm has read, because two dashes are missing', async () => {
    expect(errorOutput(await hello(['Jo'], { npm_config_name: 'true' }))).toMatch(
      /^npm read --name itself, .* npm run hello -- /,
    );
  });

  // In scripts, a variable can be empty.
  test('does not run with an empty value', async () => {
    expect(errorOutput(await hello(['--name', '']))).toMatch(/^--name has an empty value\./);
    expect(errorOutput(await hello(['--name=']))).toMatch(/^--name has an empty value\./);
  });

  test('prints no API key that is among wrong arguments', async () => {
    const key = generateApiKey('staging');
    for (const words of [[key], [`--${key}`], ['--name', 'Jo', key]]) {
      const message = errorOutput(await hello(words));
      expect(message).toMatch(/^Invalid arguments|^Unknown option/);
      expect(message).not.toContain(key.slice(13, 20));
    }
  });

  test('explains what the operator can fix, and prints no control characters of errors', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
    expect(errorOutput(await hello([], {}, full))).toMatch(/^The disk is full \(ENOSPC: .*\)/);
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' });
    expect(errorOutput(await hello([], {}, refused))).toMatch(
      /^AWS cannot be reached\. .* 10\.0\.0\.1:443\.$/,
    );
    expect(errorOutput(await hello([], {}, new UsageError('No\u001B[2J\u009B2J.')))).toBe('No [2J 2J.');
  });

  test('throws an error that is a bug, so that Node prints where it comes from', async () => {
    const bug = new TypeError('a bug');
    await expect(hello([], {}, bug)).rejects.toBe(bug);
  });
});

test('text that fits on a line has no character that changes what a terminal shows', () => {
  expect(plain('a\u001B[2J\u007F\r\nb\u202E\u2028z 東京 🐶')).toBe('a [2J b z 東京 🐶');
});

describe('a path in an option', () => {
  test('starts in the folder of the project, or in the home folder after a tilde', () => {
    const home = homedir();
    const paths = ['data', '~', '~/data', home].map((path) => pathOption('--data', path));
    expect(paths).toEqual([join(projectRoot, 'data'), home, join(home, 'data'), home]);
  });

  test("does not name another user's home folder", () => {
    expect(() => pathOption('--data', '~jane/x')).toThrow(/^--data must not start with ~jane/);
  });
});
