import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { IDEMPOTENCY_HOURS } from '../../../shared/contract/limits.ts';
import { integerOption, runWithOptions, seedOption, showProgress, UsageError } from '../../command.ts';
import { addPet, send, type Service } from './client.ts';

const CONCURRENT_REQUESTS = 8;

const USAGE = `npm run seed -- [--count 1000] [--seed N]

Adds sample pets to the service at BASE_URL with the API key in API_KEY.

  --count  number of pets
  --seed   seed of the sample data (default: a random number, which is printed)

To resume an interrupted run, run the command again with the printed seed. If both runs use the same API key within
${IDEMPOTENCY_HOURS} hours, no pet is created twice.`;

const options = { count: { type: 'string', default: '1000' }, seed: { type: 'string' } } as const;

await runWithOptions(USAGE, options, async (values) => {
  const count = integerOption('--count', values.count, 1, 1_000_000);
  const seed = seedOption('--seed', values.seed);
  const service = await findService(process.env);
  console.log(`Adding ${count} pets to ${service.baseUrl} with --seed ${seed} …`);

  const showAdded = showProgress('pets', count);
  let added = 0;
  const indexes = Array(count).keys();
  async function addInTurn(): Promise<void> {
    for (const index of indexes) {
      await addPet(service, seed, index);
      showAdded((added += 1));
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, addInTurn));
  console.log(`All ${count} pets are in the store.`);
});

/** @throws UsageError if the URL or API key of the service is missing or rejected. */
async function findService({ BASE_URL, API_KEY }: NodeJS.ProcessEnv): Promise<Service> {
  const apiKey = API_KEY?.trim();
  if (!BASE_URL || !apiKey) {
    throw new UsageError(
      'Set BASE_URL and API_KEY, for the local service as follows: ' +
        'export BASE_URL=http://localhost:3000/v1 API_KEY="$(cat .petstore/staging/api-key)"',
    );
  }
  if (!/^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])[:/])/.test(BASE_URL)) {
    throw new UsageError(
      'BASE_URL must be an https URL, or an http URL of a loopback host, such as localhost.',
    );
  }
  if (apiKey.startsWith(keyPrefix('production'))) {
    throw new UsageError('API_KEY must not be a production key, so that production gets no sample pets.');
  }
  const service = { baseUrl: BASE_URL.replace(/\/+$/, ''), apiKey };
  const { status, reason } = await send(service, '/pets?limit=1');
  if (status === 200) return service;
  throw new UsageError(`${service.baseUrl} returned no list of pets. ${reason} Check BASE_URL and API_KEY.`);
}
