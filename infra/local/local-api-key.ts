import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ANY_STAGE, keyPrefix, newApiKey } from '../../shared/api-keys.ts';
import { collections } from '../../shared/contract/operations.ts';
import { UsageError } from '../command.ts';
import type { ApiGateway } from './emulator/gateway/api-gateway.ts';
import type { Pair } from './emulator/gateway/http-message.ts';
import { databaseSettings, localOperator, type LocalService, writePrivately } from './local-service.ts';

/**
 * Returns the API key in the data folder if the API accepts this key. Otherwise, issues, stores and returns a new key.
 *
 * @throws UsageError if the folder contains an API key of a different stage.
 */
export async function findApiKey(
  folder: string,
  api: ApiGateway,
  service: Omit<LocalService, 'baseUrl'>,
): Promise<string> {
  const file = join(folder, 'api-key');
  const stored = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const isApiKey = new RegExp(`^${keyPrefix(ANY_STAGE)}`).test(stored);
  if (isApiKey && !stored.startsWith(keyPrefix(service.stage)))
    throw new UsageError(`The folder ${folder} is for a different stage. Choose another folder with --data.`);
  if (await isAccepted(stored, api)) return stored;

  const key = await issueApiKey(service);
  writePrivately(file, key);
  return key;
}

/** Returns whether the API accepts the key. It rejects a key that was revoked, or whose record was deleted. */
async function isAccepted(key: string, api: ApiGateway): Promise<boolean> {
  const [{ path }] = collections;
  const headers: Pair[] = [['Authorization', `Bearer ${key}`]];
  const request = { method: 'GET', path, query: 'limit=1', headers, host: 'localhost', body: [] };
  const { status } = await api.handle({ ...request, sourceIp: '127.0.0.1' });
  return status !== 401;
}

async function issueApiKey(service: Omit<LocalService, 'baseUrl'>): Promise<string> {
  // These modules are imported only to issue a key, because importing the SDK takes 0.2 s.
  const { PutCommand } = await import('@aws-sdk/lib-dynamodb');
  const { connect } = await import('../../shared/storage/database.ts');
  const { key, record } = newApiKey(service.stage, { owner: 'local development', caller: localOperator });
  const put = new PutCommand({ TableName: service.apiKeysTable, Item: record });
  await connect(databaseSettings(service)).send(put);
  return key;
}
