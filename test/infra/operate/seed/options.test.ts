import { expect, test } from '@jest/globals';
import { findService } from '../../../../infra/operate/seed/options.ts';
import { refusal } from '../../../support/outcomes.ts';
import { runModule } from '../../../support/run-command.ts';

const KEY = 'pets_staging_abcdefgh';

const CALL =
  'Call it like this, with the two dashes: npm run seed -- [--count 1000] [--seed N] [--data DIR] [--concurrency 8] [--allow-production]';

test.each([
  [['--count', '0'], '--count must be an integer from 1 to 1000000.'],
  [['--count', '1000001'], '--count must be an integer from 1 to 1000000.'],
  [['--count', '1.5'], '--count must be an integer from 1 to 1000000.'],
  [['--seed', KEY], '--seed must be an integer from 0 to 2147483647.'],
  [['--concurrency', '101'], '--concurrency must be an integer from 1 to 100.'],
  [[KEY], CALL],
  [['--', KEY], CALL],
])('npm run seed rejects %j in a sentence that quotes no value', async (parameters, sentence) => {
  expect(refusal(await runModule('infra/operate/seed/main.ts', parameters))).toBe(sentence);
});

test.each(['count', 'allow_production'])('npm does not take --%s for itself', async (name) => {
  const outcome = await runModule('infra/operate/seed/main.ts', [], { [`npm_config_${name}`]: '20' });
  expect(refusal(outcome)).toBe(CALL);
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
  await expect(findService({ data: '/nowhere', 'allow-production': true }, environment)).rejects.toThrow(
    'there was no response',
  );
});
