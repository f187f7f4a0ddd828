import type { KeyStore } from '../../../shared/storage/api-keys.ts';
import { findLocalService, useLocalDatabase } from './local-service.ts';

export interface KeyStage {
  store: KeyStore;
  /** ARN of whoever runs the command. */
  findCaller: () => Promise<string>;
}

/** Leads the SDK to the keys of a stage. @throws UsageError if it is not deployed, or the local service is not running. */
export async function findKeyStage({ stage, data }: { stage: string; data?: string }): Promise<KeyStage> {
  if (stage === 'local') {
    const { service } = await findLocalService(data);
    useLocalDatabase(service);
    return {
      store: { stage: service.stage, table: service.apiKeysTable },
      findCaller: async () => service.operatorArn,
    };
  }
  // Loaded only for a deployed stage, because it takes time.
  const { findCaller, findDeployedStage } = await import('../deployed-stage.ts');
  const { apiKeysTable } = await findDeployedStage(stage);
  return { store: { stage, table: apiKeysTable }, findCaller };
}
