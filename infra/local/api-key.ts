import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { keyPrefix } from '../../shared/contract/authorization.ts';
import type { ApiGateway } from './gateway/api-gateway.ts';
import { apiKeyFile, type LocalService, useLocalDatabase } from '../operate/keys/local-service.ts';
import { UsageError } from '../operate/command.ts';

/** The key of a data folder: the one that was issued at an earlier start, or a new one if the API does not accept that. */
export async function findApiKey(
  folder: string,
  api: ApiGateway,
  service: Omit<LocalService, 'baseUrl'>,
): Promise<string> {
  const kept = readKey(folder);
  return kept && (await isAccepted(api, kept)) ? kept : await issueKey(folder, service);
}

/** @throws UsageError if the folder has the key, so the data, of another stage. */
export function requireStage(folder: string, stage: string): void {
  const [prefix = keyPrefix(stage)] = new RegExp(`^${keyPrefix('[a-z]+')}`).exec(readKey(folder) ?? '') ?? [];
  if (prefix === keyPrefix(stage)) return;
  throw new UsageError(`The folder ${folder} holds the data of another stage: choose another with --data.`);
}

function readKey(folder: string): string | undefined {
  const file = apiKeyFile(folder);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Whether the API accepts the key. It does not after the key was revoked, or the tables were removed. */
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

/** Issues a key as the operator, and keeps it readable for its owner only. */
async function issueKey(folder: string, service: Omit<LocalService, 'baseUrl'>): Promise<string> {
  useLocalDatabase(service);
  // Loads the SDK, which reads its settings then.
  const { issueApiKey } = await import('../operate/keys/lifecycle.ts');
  const { stage, apiKeysTable: table, operatorArn: caller } = service;
  const { key } = await issueApiKey({ stage, table }, { owner: 'local development', caller });
  const file = apiKeyFile(folder);
  rmSync(file, { force: true }); // the mode applies to a new file only
  writeFileSync(file, key, { mode: 0o600 });
  return key;
}
