import { existsSync, readFileSync } from 'node:fs';
import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { IDEMPOTENCY_HOURS } from '../../../shared/contract/limits.ts';
import { UsageError } from '../command.ts';
import { apiKeyFile, findLocalService } from '../keys/local-service.ts';
import { send, type Service } from './client.ts';

export const USAGE = `npm run seed -- [--count 1000] [--seed N] [--data DIR|memory] [--concurrency 8]

  --count        number of pets
  --seed         determines the pets (default: a random number, which is printed)
  --data         data folder of the local service, or memory (default: the one that runs)
  --concurrency  number of concurrent requests

Adds made-up pets to the local service, or to the service that BASE_URL and API_KEY specify. To resume an interrupted
run, repeat it with the seed that it printed: within ${IDEMPOTENCY_HOURS} hours, the same seed and API key add no pet twice.`;

export const options = {
  count: { type: 'string', default: '1000' },
  seed: { type: 'string' },
  data: { type: 'string' },
  concurrency: { type: 'string', default: '8' },
} as const;

/**
 * Returns the service that the data folder or the variables specify.
 *
 * @throws UsageError if it is not fully specified, must not get made-up pets, or does not list pets.
 */
export async function findService(
  data: string | undefined,
  { BASE_URL, API_KEY = '' }: NodeJS.ProcessEnv,
): Promise<Service> {
  const service = BASE_URL ? readVariables(BASE_URL, API_KEY.trim()) : await readDataFolder(data);
  const { status, reason } = await send(service, '/pets?limit=1');
  if (status === 200) return service;
  const advice = BASE_URL ? 'check BASE_URL and API_KEY' : 'start it with npm start';
  throw new UsageError(`${service.baseUrl} does not list pets, ${advice}: ${reason}`);
}

function readVariables(baseUrl: string, apiKey: string): Service {
  if (!/^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/])/.test(baseUrl)) {
    throw new UsageError('BASE_URL must be an https URL, which hides the API key, or one of this machine.');
  }
  if (!apiKey || apiKey.startsWith(keyPrefix('production'))) {
    throw new UsageError(
      'Set API_KEY to a key of the service at BASE_URL, which must not be production: its customers would see made-up pets.',
    );
  }
  return { baseUrl: baseUrl.replace(/\/+$/, ''), apiKey };
}

async function readDataFolder(data?: string): Promise<Service> {
  const { folder, service } = await findLocalService(data);
  const file = apiKeyFile(folder);
  if (!existsSync(file)) throw new UsageError(`There is no ${file}: start the service again.`);
  return { baseUrl: service.baseUrl, apiKey: readFileSync(file, 'utf8').trim() };
}
