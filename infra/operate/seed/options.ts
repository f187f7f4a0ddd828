import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { IDEMPOTENCY_HOURS } from '../../../shared/contract/limits.ts';
import { UsageError } from '../command.ts';
import { apiKeyFile, defaultDataFolder, readLocalService } from '../keys/local-service.ts';
import { send, type Service } from './client.ts';

export const USAGE = `npm run seed -- [--count 1000] [--seed N] [--data DIR] [--concurrency 8] [--allow-production]

  --count             number of pets
  --seed              determines the pets (default: a random number, which is printed)
  --data              data folder of the local service (default: .petstore/staging)
  --concurrency       number of concurrent requests
  --allow-production  accept an API key that is not a staging key

Adds made-up pets to the local service, or to the service that BASE_URL and API_KEY specify. To resume an interrupted
run, repeat it with the seed that it printed: within ${IDEMPOTENCY_HOURS} hours, the same seed and API key add no pet twice.`;

export const options = {
  count: { type: 'string', default: '1000' },
  seed: { type: 'string' },
  data: { type: 'string', default: defaultDataFolder() },
  concurrency: { type: 'string', default: '8' },
  'allow-production': { type: 'boolean', default: false },
} as const;

/**
 * Returns the service that the options or the variables specify.
 *
 * @throws UsageError if it is not fully specified, must not get made-up pets, or does not list pets.
 */
export async function findService(
  { data, ...values }: { data: string; 'allow-production': boolean },
  { BASE_URL, API_KEY }: NodeJS.ProcessEnv,
): Promise<Service> {
  const service = BASE_URL ? readVariables(BASE_URL, API_KEY) : readDataFolder(resolve(data));
  if (!service.apiKey.startsWith(keyPrefix('staging')) && !values['allow-production']) {
    throw new UsageError(
      'The API key is not a staging key, and customers would see made-up pets: to add them anyway, use --allow-production.',
    );
  }
  const { status, reason } = await send(service, '/pets?limit=1');
  if (status === 200) return service;
  const advice = BASE_URL ? 'check BASE_URL and API_KEY' : 'start it with npm start';
  throw new UsageError(`${service.baseAddress} does not list pets, ${advice}: ${reason}`);
}

function readVariables(baseUrl: string, apiKey: string | undefined): Service {
  const url = URL.parse(baseUrl);
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url?.hostname ?? '');
  // Plain HTTP would show the key to the network.
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) {
    throw new UsageError('BASE_URL must be an https URL, or an http URL on this machine.');
  }
  if (!apiKey) throw new UsageError('Set API_KEY to an API key of the service at BASE_URL.');
  return { baseAddress: `${url.origin}${url.pathname.replace(/\/+$/, '')}`, apiKey };
}

function readDataFolder(folder: string): Service {
  try {
    const apiKey = readFileSync(apiKeyFile(folder), 'utf8').trim();
    return { baseAddress: readLocalService(folder).baseAddress, apiKey };
  } catch {
    throw new UsageError(`No local service runs on ${folder}: start it with npm start and the same --data.`);
  }
}
