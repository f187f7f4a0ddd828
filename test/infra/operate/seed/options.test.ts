import { expect, test } from '@jest/globals';
import { findService, readSeedOptions } from '../../../../infra/operate/seed/options.ts';

const KEY = 'pets_staging_abcdefgh';

test.each([
  [['--count', '0'], '--count must be an integer from 1 to 1000000.'],
  [['--count', '1000001'], '--count must be an integer from 1 to 1000000.'],
  [['--count', '1.5'], '--count must be an integer from 1 to 1000000.'],
  [['--seed', KEY], '--seed must be an integer from 0 to 2147483647.'],
  [['--concurrency', '101'], '--concurrency must be an integer from 1 to 100.'],
  [[KEY], 'Give only options, after two dashes: npm run seed -- --count 10000.'],
])('npm run seed rejects %j in a sentence that quotes no value', (parameters, sentence) => {
  expect(() => readSeedOptions(parameters)).toThrow(new Error(sentence));
});

test.each(['count', 'data', 'seed', 'allow_production'])('npm does not take --%s for itself', (name) => {
  expect(() => readSeedOptions([], { [`npm_config_${name}`]: '20' })).toThrow('after two dashes');
});

const HTTPS = 'BASE_URL must be an https URL, or an http URL on this machine.';

test.each([
  [{ BASE_URL: 'https://example.com/v1' }, 'Set API_KEY to an API key of the service at BASE_URL.'],
  [{ BASE_URL: 'staging', API_KEY: KEY }, HTTPS],
  [{ BASE_URL: 'http://127.0.0.1.example.com/v1', API_KEY: KEY }, HTTPS],
  [
    { BASE_URL: 'https://example.com/v1', API_KEY: 'pets_production_abc' },
    'The API key is not a staging key, and customers would see made-up pets: to add them anyway, use --allow-production.',
  ],
  [
    { BASE_URL: 'http://me:secret@127.0.0.1:2/v1/?x#y', API_KEY: KEY },
    'http://127.0.0.1:2/v1 does not list pets, check BASE_URL and API_KEY: there was no response (ECONNREFUSED).',
  ],
  [{}, 'No local service runs on /nowhere: start it with npm start and the same --data.'],
])('made-up pets do not go to %j', async (environment, sentence) => {
  const options = { data: '/nowhere', 'allow-production': false };
  await expect(findService(options, environment)).rejects.toThrow(new Error(sentence));
});

test('made-up pets go to production with --allow-production', async () => {
  const environment = { BASE_URL: 'http://127.0.0.1:2/v1', API_KEY: 'pets_production_abc' };
  await expect(findService({ 'allow-production': true }, environment)).rejects.toThrow(
    'there was no response',
  );
});
