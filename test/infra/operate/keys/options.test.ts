import { describe, expect, test } from '@jest/globals';
import { InvalidArgumentError } from 'commander';
import { UsageError } from '../../../../infra/operate/command.ts';
import { readDuration, readKeyId, readOwner } from '../../../../infra/operate/keys/options.ts';
import { generateApiKey } from '../../../../shared/storage/api-keys.ts';

describe('an owner', () => {
  test.each(['Pets & Söhne', ' 東京ペット ', '🐶', 'a'.repeat(100)])('may be called %s', (owner) => {
    expect(readOwner(owner)).toBe(owner.trim());
  });

  test.each([
    ['nothing', ''],
    ['white space', ' \u00A0'],
    ['what steers the terminal', '\u001B[2J'],
    ['what breaks its line', 'Acme\nkey_1'],
    ['what breaks it in Unicode', 'Acme\u2028key_1'],
    ['what reverses its direction', '\u202Eemca'],
    ['half a character', '\uD800'],
    ['more than 100 characters', 'a'.repeat(101)],
    ['an option', '--json'],
    ['a key', `Acme ${generateApiKey('staging')}`],
  ])('may not be called %s', (_what, owner) => {
    expect(() => readOwner(owner)).toThrow(InvalidArgumentError);
  });
});

describe('a duration', () => {
  test.each([
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
    ['99999d', 8_639_913_600_000],
  ])('of %s has %d milliseconds', (duration, milliseconds) => {
    expect(readDuration(duration)).toBe(milliseconds);
  });

  test.each(['90', 'd', '0d', '-1d', '1.5d', '1e1d', '90 d', '90D', '90y', '123456d', '', ' 1d', '1d\n'])(
    'is not %j',
    (duration) => {
      expect(() => readDuration(duration)).toThrow(InvalidArgumentError);
    },
  );
});

describe('the id of a key', () => {
  test('is what the list shows', () => {
    expect(readKeyId('key_01a1ff46e2b36d1473e3')).toBe('key_01a1ff46e2b36d1473e3');
  });

  test.each(['', 'key_', 'key_XYZ', '01a1', ' key_1', 'key_1\n', generateApiKey('staging')])(
    'is nothing else',
    (other) => expect(() => readKeyId(other)).toThrow(UsageError),
  );
});
