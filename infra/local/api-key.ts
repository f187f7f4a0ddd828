import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { keyPrefix } from '../../shared/contract/authorization.ts';
import type { ApiGateway } from './emulator/gateway/api-gateway.ts';
import { apiKeyFile, databaseSettings, type LocalService } from './local-service.ts';
import { UsageError } from '../command.ts';

/** Returns the API key in the data folder if the API accepts it. Otherwise, issues a new key. */
export async function findApiKey(
  folder: string,
  api: ApiGateway,
  service: Omit<LocalService, 'baseUrl'>,
): Promise<string> {
  const stored = readKey(folder);
  return stored && (await isAccepted(api, stored)) ? stored : await issueKey(folder, service);
}

/** @throws UsageError if the folder contains an API key for a different stage. */
export function requireStage(folder: string, stage: string): void {
  const stored = readKey(folder) ?? '';
  if (!/^pets_[a-z]+_/.test(stored) || stored.startsWith(keyPrefix(stage))) return;
  throw new UsageError(`The folder ${folder} is for a different stage. Choose another folder with --data.`);
}

function readKey(folder: string): string | undefined {
  const file = apiKeyFile(folder);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Returns whether the API accepts the key. The API rejects revoked keys and keys whose table was deleted. */
async function isAccepted(api: ApiGateway, key: string): Promise<boolean> {
  const { status } = await api.handle({
    method: 'GET',
    path: '/v1/pets',
    query: 'limit=1',
    headers: [['Authorization', `Bearer ${key}`]],
    body: Buffer.alloc(0),
    sourceIp: '127.0.0.1',
  });
  return status !== 401;
}

/** Issues a key and writes it to a file that only the current user can read. */
async function issueKey(folder: string, service: Omit<LocalService, 'baseUrl'>): Promise<string> {
  // The SDK is loaded only when a key is issued, because this takes 0.2 s.
  const { PutCommand } = await import('@aws-sdk/lib-dynamodb');
  const { newApiKey } = await import('../../shared/storage/api-keys.ts');
  const { connect } = await import('../../shared/storage/database.ts');
  const { stage, apiKeysTable: TableName, operatorArn: caller } = service;
  const { key, record } = newApiKey(stage, { owner: 'local development', caller });
  const database = connect(databaseSettings(service));
  await database.send(new PutCommand({ TableName, Item: record }));
  database.destroy();
  const file = apiKeyFile(folder);
  rmSync(file, { force: true }); // writeFileSync does not change the mode of an existing file.
  writeFileSync(file, key, { mode: 0o600 });
  return key;
}
