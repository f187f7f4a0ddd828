import { readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import type { KeyStore } from '../../../shared/storage/api-keys.ts';
import { UsageError } from '../command.ts';

export interface KeyStage {
  store: KeyStore;
  /** ARN of whoever runs the command. */
  findCaller: () => Promise<string>;
}

/**
 * Finds where the keys of a stage are, and leads the SDK there.
 *
 * @param data folder of the local service.
 * @throws UsageError when the stage is not deployed, or the local service does not run.
 */
export async function findKeyStage({ stage, data }: { stage: string; data: string }): Promise<KeyStage> {
  return stage === 'local' ? findLocalService(data) : findStack(stage);
}

async function findStack(stage: string): Promise<KeyStage> {
  // Loaded for a deployed stage alone: each start of the local service waits for this command.
  const { findCaller, findDeployedStage } = await import('../deployed-stage.ts');
  const { apiKeysTable } = await findDeployedStage(stage);
  return { store: { stage, table: apiKeysTable }, findCaller };
}

type ServiceRecord = Record<
  'stage' | 'baseAddress' | 'apiKeysTable' | 'databaseEndpoint' | 'region' | 'accessKeyId' | 'operatorArn',
  string
>;

/**
 * What the local service says in its data folder: where it and its database listen, and whom it takes for the operator.
 *
 * @throws Error when it has said nothing.
 */
export function readServiceRecord(folder: string): ServiceRecord {
  return JSON.parse(readFileSync(join(folder, 'service.json'), 'utf8')) as ServiceRecord;
}

async function findLocalService(folder: string): Promise<KeyStage> {
  let service: ServiceRecord;
  try {
    service = readServiceRecord(folder);
    const { headers } = await fetch(service.databaseEndpoint, { signal: AbortSignal.timeout(5_000) });
    if (headers.get('Content-Type') !== 'application/x-amz-json-1.0')
      throw new Error('Something else is there.');
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
  return {
    store: { stage: service.stage, table: service.apiKeysTable },
    findCaller: async () => service.operatorArn,
  };
}
