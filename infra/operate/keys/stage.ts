import type { KeyStore } from '../../../shared/storage/api-keys.ts';
import { UsageError } from '../command.ts';
import { type LocalService, readLocalService, useLocalDatabase } from './local-service.ts';

export interface KeyStage {
  store: KeyStore;
  /** ARN of whoever runs the command. */
  findCaller: () => Promise<string>;
}

/** Leads the SDK to the keys of a stage. @throws UsageError if it is not deployed, or the local service is not running. */
export async function findKeyStage({ stage, data }: { stage: string; data: string }): Promise<KeyStage> {
  return stage === 'local' ? findLocalService(data) : findStack(stage);
}

async function findStack(stage: string): Promise<KeyStage> {
  // Loaded only for a deployed stage, because it takes time.
  const { findCaller, findDeployedStage } = await import('../deployed-stage.ts');
  const { apiKeysTable } = await findDeployedStage(stage);
  return { store: { stage, table: apiKeysTable }, findCaller };
}

async function findLocalService(folder: string): Promise<KeyStage> {
  let service: LocalService;
  try {
    service = readLocalService(folder);
    const { headers } = await fetch(service.databaseEndpoint, { signal: AbortSignal.timeout(5_000) });
    if (headers.get('Content-Type') !== 'application/x-amz-json-1.0')
      throw new Error('Something else is there.');
  } catch {
    throw new UsageError(`No local service runs on ${folder}: start it with npm start.`);
  }
  useLocalDatabase(service);
  return {
    store: { stage: service.stage, table: service.apiKeysTable },
    findCaller: async () => service.operatorArn,
  };
}
