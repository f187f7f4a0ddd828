import { faker } from '@faker-js/faker/locale/en';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { keyPrefix } from '../../shared/contract/authorization.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { IDEMPOTENCY_HOURS, INT64 } from '../../shared/contract/limits.ts';
import { type NewPet, PetStatus } from '../../shared/contract/pets.ts';
import { send } from './request.ts';
import { integerOption, runWithOptions, seedOption, showProgress, UsageError } from '../command.ts';

const CONCURRENT_REQUESTS = 8;
const ATTEMPTS = 10;
const MAX_BACKOFF_SECONDS = 60;
const namesBeyondAscii = ['Zoë', 'Bjørn', 'Łatka', 'Σπίθα', 'Мурка', 'مشمش', 'たま', '小白', 'Nala 🐕'];

const USAGE = `npm run seed -- [--count 1000] [--seed N]

Adds sample pets to a service. Set BASE_URL to the service's base URL, and API_KEY to an API key of the service.

  --count  number of pets
  --seed   seed of the sample data (default: a random number, which the command prints)

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
  const add = async (index: number) => {
    await addPet(service, seed, index);
    showAdded((added += 1));
  };
  await Readable.from(Array(count).keys()).forEach(add, { concurrency: CONCURRENT_REQUESTS });
  console.log(`All ${count} pets are in the store.`);
});

/** Returns the base URL and request headers. @throws UsageError if BASE_URL or API_KEY is missing or rejected */
async function findService({ BASE_URL, API_KEY }: NodeJS.ProcessEnv) {
  const baseUrl = BASE_URL?.replace(/\/+$/, '');
  const apiKey = API_KEY?.trim();
  if (!baseUrl || !apiKey) {
    throw new UsageError(
      'Set BASE_URL and API_KEY. For the local service, run: ' +
        'export BASE_URL=http://localhost:3000/v1 API_KEY="$(cat .petstore/staging/api-key)"',
    );
  }
  if (!/^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?:[:/]|$))/.test(baseUrl))
    throw new UsageError('BASE_URL must be an https URL, or an http URL with a loopback host.');
  if (apiKey.startsWith(keyPrefix('production')))
    throw new UsageError('Sample pets must not be in production. Set API_KEY to a key of another stage.');
  const headers = { Authorization: `Bearer ${apiKey}` };
  const { status, reason } = await send(`${baseUrl}/pets?limit=1`, { headers });
  if (status === 200) return { baseUrl, headers };
  throw new UsageError(`${baseUrl} returned no list of pets. ${reason} Check BASE_URL and API_KEY.`);
}

type Service = Awaited<ReturnType<typeof findService>>;

/**
 * Creates the pet that `seed` and `index` determine. Retries failed requests as docs/interface.md recommends.
 *
 * @throws UsageError if the service rejects the pet or all attempts fail.
 */
async function addPet({ baseUrl, ...service }: Service, seed: number, index: number): Promise<void> {
  const key = `seed-${seed}-${index}`;
  const headers = { ...service.headers, 'Content-Type': 'application/json', 'Idempotency-Key': key };
  faker.seed([seed, index]);
  const body = stringifyJson(samplePet());
  for (let attempt = 1; ; attempt += 1) {
    const { status, reason, ...response } = await send(`${baseUrl}/pets`, { method: 'POST', headers, body });
    if (status === 201) return;
    const isFinal = status < 500 && status !== 429;
    if (isFinal || attempt === ATTEMPTS) {
      throw new UsageError(
        `A pet could not be created (attempt ${attempt} of ${ATTEMPTS}). ${reason} ` +
          `To resume, run the same command with --seed ${seed}.`,
      );
    }
    const retryAfter = Number.parseInt(response.headers.get('Retry-After') ?? '', 10);
    const backoffSeconds = Math.random() * Math.min(2 ** (attempt - 1), MAX_BACKOFF_SECONDS);
    await setTimeout(1_000 * (Number.isNaN(retryAfter) ? backoffSeconds : retryAfter));
  }
}

/** Returns a random pet. Clients often corrupt large integers and non-ASCII text, so some pets have them. */
function samplePet(): NewPet {
  const { animal, datatype, helpers, number } = faker;
  const isOdd = () => datatype.boolean(0.05);
  const status = helpers.arrayElement([...PetStatus.options, undefined]);
  return {
    name: isOdd() ? helpers.arrayElement(namesBeyondAscii) : animal.petName(),
    categoryId: number.bigInt(isOdd() ? { min: INT64.minimum, max: INT64.maximum } : { min: 1, max: 9 }),
    ...(status && { status }),
  };
}
