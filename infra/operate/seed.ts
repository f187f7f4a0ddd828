import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { keyPrefix } from '../../shared/api-keys.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { IDEMPOTENCY_HOURS } from '../../shared/contract/limits.ts';
import { collections } from '../../shared/contract/operations.ts';
import { compactName } from '../../shared/names.ts';
import { requireBaseUrl, requireService } from './base-url.ts';
import { send } from './request.ts';
import { sampleItem } from './sample-item.ts';
import { integerOption, runWithOptions, seedOption, showProgress, UsageError } from '../command.ts';

const CONCURRENT_REQUESTS = 8;
const ATTEMPTS = 10;
const MAX_BACKOFF_SECONDS = 60;

type AnyCollection = (typeof collections)[number];

const names = collections.map(({ plural }) => plural);

const USAGE = `npm run seed -- [--collection NAME] [--count 1000] [--seed N]

Adds sample items to a service. Set BASE_URL to the service's base URL, and API_KEY to an API key of the service.

  --collection  what to add: ${names.join(' or ')} (default: ${names[0]})
  --count       number of items
  --seed        seed of the sample data (default: a random number, which the command prints)

To resume an interrupted run, run the command again with the printed seed. If both runs use the same API key within
${IDEMPOTENCY_HOURS} hours, no item is created twice.`;

const options = {
  collection: { type: 'string', default: names[0] as string },
  count: { type: 'string', default: '1000' },
  seed: { type: 'string' },
} as const;

await runWithOptions(USAGE, options, async (values) => {
  const collection = findCollection(values.collection);
  const { plural } = collection;
  const count = integerOption('--count', values.count, 1, 1_000_000);
  const seed = seedOption('--seed', values.seed);
  const service = await findService(process.env, collection);
  console.log(`Adding ${count} ${plural} to ${service.baseUrl} with --seed ${seed} …`);

  const showAdded = showProgress(plural, count);
  let added = 0;
  const add = async (index: number) => {
    await addItem(service, collection, seed, index);
    showAdded((added += 1));
  };
  await Readable.from(Array(count).keys()).forEach(add, { concurrency: CONCURRENT_REQUESTS });
  console.log(`The service contains all ${count} ${plural}.`);
});

/** Returns the collection with this `plural`. @throws UsageError if there is none */
function findCollection(name: string): AnyCollection {
  const collection = collections.find(({ plural }) => plural === name);
  if (collection) return collection;
  // The message does not quote `name`, because `name` can be an API key.
  throw new UsageError(`--collection must be ${names.join(' or ')}.`);
}

/**
 * Returns the base URL and request headers.
 *
 * @throws UsageError if BASE_URL or API_KEY is missing or rejected, or if the key is one of production
 */
async function findService({ BASE_URL, API_KEY }: NodeJS.ProcessEnv, collection: AnyCollection) {
  const apiKey = API_KEY?.trim();
  if (!BASE_URL || !apiKey) {
    throw new UsageError(
      'Set BASE_URL and API_KEY. For the local service, run: ' +
        `export BASE_URL=http://localhost:3000/v1 API_KEY="$(cat .${compactName}/staging/api-key)"`,
    );
  }
  const baseUrl = requireBaseUrl(BASE_URL);
  if (apiKey.startsWith(keyPrefix('production')))
    throw new UsageError('Sample data must not be in production. Set API_KEY to a key of another stage.');
  await requireService(baseUrl, apiKey, collection);
  return { baseUrl, headers: { Authorization: `Bearer ${apiKey}` } };
}

type Service = Awaited<ReturnType<typeof findService>>;

/**
 * Creates the item that `seed` and `index` determine. Retries after a 429, a 5xx or no response, with the backoff that
 * docs/interface.md recommends.
 *
 * @throws UsageError if the service rejects the item or all attempts fail.
 */
async function addItem(
  { baseUrl, ...service }: Service,
  collection: AnyCollection,
  seed: number,
  index: number,
): Promise<void> {
  // An idempotency key applies to one operation, so items of different collections can have the same key.
  const key = `seed-${seed}-${index}`;
  const headers = { ...service.headers, 'Content-Type': 'application/json', 'Idempotency-Key': key };
  const body = stringifyJson(sampleItem(collection.operations.create.request.body, [seed, index]));
  const url = `${baseUrl}${collection.path.replace('/v1', '')}`; // Both contain the version.
  for (let attempt = 1; ; attempt += 1) {
    const { status, reason, ...response } = await send(url, { method: 'POST', headers, body });
    if (status === 201) return;
    const isFinal = status < 500 && status !== 429;
    if (isFinal || attempt === ATTEMPTS) {
      throw new UsageError(
        `Adding ${collection.plural} failed (attempt ${attempt} of ${ATTEMPTS}). ${reason} ` +
          `To resume, run the same command with --seed ${seed}.`,
      );
    }
    const retryAfter = Number.parseInt(response.headers.get('Retry-After') ?? '', 10);
    const backoffSeconds = Math.random() * Math.min(2 ** (attempt - 1), MAX_BACKOFF_SECONDS);
    await setTimeout(1_000 * (Number.isNaN(retryAfter) ? backoffSeconds : retryAfter));
  }
}
