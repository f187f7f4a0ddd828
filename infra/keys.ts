import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { issueApiKey, type KeyStore } from '../shared/api-keys.ts';
import { runCommand, UsageError } from './command.ts';
import { findDeployedStage } from './deployed-stage.ts';

// The operator command: `npm run keys -- issue --stage staging --owner "Acme"`.

const USAGE = `npm run keys -- issue --stage staging|production|local --owner NAME [--expires-in 90d] [--json | --quiet]

  --stage       whose keys: a deployed stage, with your AWS credentials and region, or the local service
  --owner       who is going to use the key
  --expires-in  how long it works: a number of d(ays), h(ours) or m(inutes); without end if not given
  --json        print a JSON object
  --quiet       print the key alone
  --data        data folder of the local service (default: .petstore/staging)`;

const UNIT_MILLISECONDS = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      stage: { type: 'string' },
      owner: { type: 'string' },
      'expires-in': { type: 'string' },
      json: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      data: { type: 'string', default: defaultDataFolder() },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  if (positionals.join(' ') !== 'issue') throw new UsageError(USAGE);
  if (!values.owner?.trim()) throw new UsageError('--owner says who is going to use the key; it is missing.');
  const expiresAt = values['expires-in'] === undefined ? undefined : endOf(values['expires-in']);

  const store =
    values.stage === 'local' ? localStore(resolve(values.data)) : await deployedStore(values.stage);
  const { key, record } = await issueApiKey(store, values.owner, expiresAt).catch(
    (error: { code?: string }) => {
      if (values.stage !== 'local' || error.code !== 'ECONNREFUSED') throw error;
      throw new UsageError('The local service has ended: start it with npm start.');
    },
  );

  if (values.quiet) return console.log(key);
  const { keyId, owner, createdAt } = record;
  const issued = { key, keyId, owner, createdAt, expiresAt: record.expiresAt ?? null };
  if (values.json) return console.log(JSON.stringify(issued));
  for (const [name, value] of Object.entries(issued)) console.log(`${name.padEnd(10)} ${value ?? 'never'}`);
  console.log('\nThe key is shown this once; only its hash is kept.');
}

function endOf(duration: string): Date {
  const [, amount, unit] = /^([1-9]\d{0,4})([dhm])$/.exec(duration) ?? [];
  if (!amount)
    throw new UsageError(
      `--expires-in takes a number of days, hours or minutes such as 90d, not ${duration}.`,
    );
  return new Date(Date.now() + Number(amount) * UNIT_MILLISECONDS[unit as keyof typeof UNIT_MILLISECONDS]);
}

/** The local service says in its data folder where its database listens and whom it takes for the operator. */
function localStore(folder: string): KeyStore {
  let service: Record<'stage' | 'apiKeysTable' | 'databaseEndpoint' | 'region' | 'accessKeyId', string>;
  try {
    service = JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8'));
  } catch {
    throw new UsageError(`No local service runs on ${folder}: start it with npm start.`);
  }
  // The operator's own AWS settings, a profile above all, would lead the SDK elsewhere.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: service.databaseEndpoint,
    AWS_REGION: service.region,
    AWS_ACCESS_KEY_ID: service.accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
  });
  return { stage: service.stage, table: service.apiKeysTable };
}

async function deployedStore(name: string | undefined): Promise<KeyStore> {
  const { stage, apiKeysTable } = await findDeployedStage(name, 'staging, production or local');
  return { stage, table: apiKeysTable };
}

function defaultDataFolder(): string {
  return fileURLToPath(new URL('../.petstore/staging', import.meta.url));
}

await runCommand(main);
