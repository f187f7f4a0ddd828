import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { IDEMPOTENCY_SECONDS } from '../../../shared/contract/schemas.ts';
import { UsageError } from '../command.ts';
import { readLocalService } from '../keys/local-service.ts';
import { ask, type Service } from './client.ts';

// What the operator tells `npm run seed`, on the command line and in BASE_URL and API_KEY.

/** An hour less than the service knows a pet after it was first sent, which was not before the beginning of its run. */
export const RUN_HOURS = IDEMPOTENCY_SECONDS / 3_600 - 1;

export const USAGE = `npm run seed -- [--count 1000] [--data DIR] [--seed N] [--concurrency 8] [--restart] [--allow-production]

  --count             how many pets to add
  --data              data folder of the local service (default: .petstore/staging)
  --seed              the same number makes the same pets (default: any)
  --concurrency       requests at a time
  --restart           begin anew, though the run before was not ended; its pets stay
  --allow-production  add the pets even where the key is not one of staging

The pets go to the local service, or to the one that the variables BASE_URL and API_KEY name. When a run was cut off, by
whatever, the same command goes on with it within ${RUN_HOURS} hours of its beginning, and adds no pet twice.`;

export const SEEDS = 2 ** 31;

const optionsByName = {
  count: { type: 'string' },
  data: { type: 'string' },
  seed: { type: 'string' },
  concurrency: { type: 'string', default: '8' },
  restart: { type: 'boolean', default: false },
  'allow-production': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** @throws UsageError, or an error of parseArgs, neither with a word that may be a key. */
export function readSeedOptions(parameters: string[], environment: NodeJS.ProcessEnv = {}) {
  const { values, positionals } = parseArgs({
    args: parameters,
    allowPositionals: true,
    options: optionsByName,
  });
  // npm takes options for its own until it sees two dashes.
  const lost = Object.keys(optionsByName).filter(
    (name) => environment[`npm_config_${name.replaceAll('-', '_')}`] !== undefined,
  );
  if (positionals.length > 0 || lost.length > 0) {
    throw new UsageError('Give options alone, after two dashes: npm run seed -- --count 10000.');
  }
  const { count, seed, concurrency } = values;
  return {
    ...values,
    /** Undefined for that of the run to go on with. */
    count: count === undefined ? undefined : readInteger('--count', count, 1, 1_000_000),
    seed: seed === undefined ? undefined : readInteger('--seed', seed, 0, SEEDS - 1),
    concurrency: readInteger('--concurrency', concurrency, 1, 100),
  };
}

function readInteger(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} must be an integer from ${least} to ${most}.`);
}

export type SeedOptions = ReturnType<typeof readSeedOptions>;

export interface SeedTarget extends Service {
  /** Where is kept how far a run has come. */
  runFile: string;
}

/**
 * Finds the service that gets the pets, see USAGE.
 *
 * @throws UsageError when it is not told fully, must not have made-up pets, or does not let us in.
 */
export async function findTarget(
  options: Pick<SeedOptions, 'data' | 'allow-production'>,
  { BASE_URL, API_KEY }: NodeJS.ProcessEnv,
): Promise<SeedTarget> {
  const dataFolder = fileURLToPath(new URL('../../../.petstore', import.meta.url));
  const target = BASE_URL
    ? readVariables(BASE_URL, API_KEY, dataFolder)
    : readFolder(resolve(options.data ?? join(dataFolder, 'staging')));
  if (!target.apiKey.startsWith('pets_'))
    throw new UsageError('API_KEY must be an API key, such as pets_staging_….');
  if (!target.apiKey.startsWith('pets_staging_') && !options['allow-production']) {
    throw new UsageError(
      'The key is not one of staging, and customers would find made-up pets: add --allow-production if you want that.',
    );
  }
  const { status, reason, isFinal } = await ask(target, '/pets?limit=1');
  if (status === 200 || (status !== undefined && !isFinal)) return target;
  const advice = BASE_URL ? 'look at BASE_URL and API_KEY' : 'start it with npm start';
  throw new UsageError(`${target.baseAddress} takes no pets, ${advice}: ${reason}`);
}

function readVariables(baseUrl: string, apiKey: string | undefined, folder: string): SeedTarget {
  const url = URL.parse(baseUrl);
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url?.hostname ?? '');
  // The key would go over the network for all to read.
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) {
    throw new UsageError('BASE_URL must be a base address by https, or by http on this machine.');
  }
  if (!apiKey) throw new UsageError('Set API_KEY to a key of the service that BASE_URL names.');
  const baseAddress = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  return { baseAddress, apiKey, runFile: join(folder, `seed-${encodeURIComponent(baseAddress)}.json`) };
}

function readFolder(folder: string): SeedTarget {
  try {
    const { baseAddress } = readLocalService(folder);
    const apiKey = readFileSync(join(folder, 'api-key'), 'utf8').trim();
    return { baseAddress, apiKey, runFile: join(folder, 'seed.json') };
  } catch {
    throw new UsageError(
      `No local service runs on ${folder}: start it with npm start, and with the same --data.`,
    );
  }
}
