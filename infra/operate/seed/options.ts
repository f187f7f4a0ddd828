import { existsSync, readFileSync } from 'node:fs';
import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { IDEMPOTENCY_HOURS } from '../../../shared/contract/limits.ts';
import { UsageError } from '../../command.ts';
import { apiKeyFile, findLocalService } from '../../local/local-service.ts';
import { send, type Service } from './client.ts';

export const USAGE = `npm run seed -- [--count 1000] [--seed N] [--data DIR|memory] [--concurrency 8]

Adds sample pets to the local service, or to the service at BASE_URL with the API key in API_KEY.

  --count        number of pets
  --seed         seed of the sample data (default: a random number, which is printed)
  --data         data folder of the local service, or memory (default: the running service)
  --concurrency  number of concurrent requests

To resume an interrupted run, run the command again with the printed seed. If both runs use the same API key within
${IDEMPOTENCY_HOURS} hours, no pet is created twice.`;

export const options = {
  count: { type: 'string', default: '1000' },
  seed: { type: 'string' },
  data: { type: 'string' },
  concurrency: { type: 'string', default: '8' },
} as const;

/** @throws UsageError if the URL or API key of the service is missing or rejected. */
export async function findService(
  data: string | undefined,
  { BASE_URL, API_KEY = '' }: NodeJS.ProcessEnv,
): Promise<Service> {
  const service = BASE_URL ? readVariables(BASE_URL, API_KEY.trim()) : await readDataFolder(data);
  const { status, reason } = await send(service, '/pets?limit=1');
  if (status === 200) return service;
  const advice = BASE_URL ? 'Check BASE_URL and API_KEY.' : 'Restart the service with npm start.';
  throw new UsageError(`${service.baseUrl} returned no list of pets. ${reason} ${advice}`);
}

function readVariables(baseUrl: string, apiKey: string): Service {
  if (!/^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/])/.test(baseUrl)) {
    throw new UsageError(
      'BASE_URL must be an https URL, or an http URL of a loopback host, such as localhost.',
    );
  }
  if (!apiKey || apiKey.startsWith(keyPrefix('production'))) {
    throw new UsageError(
      'Set API_KEY to a key of the service at BASE_URL. Production keys are rejected, so that production gets no sample pets.',
    );
  }
  return { baseUrl: baseUrl.replace(/\/+$/, ''), apiKey };
}

async function readDataFolder(data?: string): Promise<Service> {
  const { folder, service } = await findLocalService(data);
  const file = apiKeyFile(folder);
  if (!existsSync(file)) throw new UsageError(`The file ${file} is missing. Restart the local service.`);
  return { baseUrl: service.baseUrl, apiKey: readFileSync(file, 'utf8').trim() };
}
