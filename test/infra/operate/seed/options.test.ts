import { describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { findTarget, readSeedOptions, type SeedOptions } from '../../../../infra/operate/seed/options.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const KEY = 'pets_staging_abcdefgh';

describe('the options for made-up pets', () => {
  test('are what is given, and sensible where nothing is', () => {
    expect(readSeedOptions(['--count', '1000000', '--seed', '0', '--restart'])).toEqual({
      count: 1_000_000,
      seed: 0,
      concurrency: 8,
      restart: true,
      'allow-production': false,
      help: false,
    });
  });

  test.each([
    ['no pets', ['--count', '0'], '--count must be an integer from 1 to 1000000.'],
    ['fewer', ['--count=-5'], '--count must be an integer from 1 to 1000000.'],
    ['half pets', ['--count', '1.5'], '--count must be an integer from 1 to 1000000.'],
    ['too many', ['--count', '1000001'], '--count must be an integer from 1 to 1000000.'],
    ['another notation', ['--count', '1e3'], '--count must be an integer from 1 to 1000000.'],
    ['a key for a number', ['--seed', KEY], '--seed must be an integer from 0 to 2147483647.'],
    ['no request at a time', ['--concurrency', '0'], '--concurrency must be an integer from 1 to 100.'],
    ['too many at a time', ['--concurrency', '101'], '--concurrency must be an integer from 1 to 100.'],
    ['a key by itself', [KEY], 'Give options alone, after two dashes: npm run seed -- --count 10000.'],
    ['unknown', ['--api-key', KEY], /^Unknown option '--api-key'/],
  ])('cannot be %s', (_what, parameters, sentence) => {
    expect(() => readSeedOptions(parameters)).toThrow(
      sentence instanceof RegExp ? sentence : new Error(sentence),
    );
  });

  test('are not lost to npm', () => {
    for (const name of ['count', 'data', 'seed', 'allow_production']) {
      expect(() => readSeedOptions([], { [`npm_config_${name}`]: '20' })).toThrow('after two dashes');
    }
  });
});

function find(environment: NodeJS.ProcessEnv, options: Partial<SeedOptions> = {}) {
  return findTarget({ 'allow-production': false, ...options }, environment);
}

describe('where made-up pets go', () => {
  const folder = temporaryFolder();

  test.each([
    [
      'an address without a key',
      { BASE_URL: 'https://example.com/v1' },
      'Set API_KEY to a key of the service that BASE_URL names.',
    ],
    [
      'no address',
      { BASE_URL: 'staging', API_KEY: KEY },
      'BASE_URL must be a base address by https, or by http on this machine.',
    ],
    [
      'an address to which the key would travel for all to read',
      { BASE_URL: 'http://127.0.0.1.example.com/v1', API_KEY: KEY },
      'BASE_URL must be a base address by https, or by http on this machine.',
    ],
    [
      'production',
      { BASE_URL: 'https://example.com/v1', API_KEY: 'pets_production_abc' },
      'The key is not one of staging, and customers would find made-up pets: add --allow-production if you want that.',
    ],
    [
      'an address where nothing answers',
      { BASE_URL: 'http://me:secret@127.0.0.1:2/v1/?x#y', API_KEY: KEY },
      'http://127.0.0.1:2/v1 takes no pets, look at BASE_URL and API_KEY: no answer came (ECONNREFUSED).',
    ],
  ])('cannot be %s', async (_what, environment, sentence) => {
    await expect(find(environment)).rejects.toThrow(new Error(sentence));
  });

  test('can be production when that is said', async () => {
    const environment = { BASE_URL: 'http://127.0.0.1:2/v1', API_KEY: 'pets_production_abc' };
    await expect(find(environment, { 'allow-production': true })).rejects.toThrow('no answer came');
  });

  test('cannot be a folder on which no service runs', async () => {
    const data = join(folder, 'empty');
    await expect(find({}, { data })).rejects.toThrow(
      new Error(`No local service runs on ${data}: start it with npm start, and with the same --data.`),
    );
  });
});
