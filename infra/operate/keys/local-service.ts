import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How operator commands reach a local service. It keeps this in its data folder while it runs. */
export interface LocalService {
  stage: string;
  baseAddress: string;
  apiKeysTable: string;
  databaseEndpoint: string;
  region: string;
  /** Access key id and ARN of the operator. */
  accessKeyId: string;
  operatorArn: string;
}

/** The data folder of a stage's local service unless an option names another. */
export function defaultDataFolder(stage = 'staging'): string {
  return fileURLToPath(new URL(`../../../.petstore/${stage}`, import.meta.url));
}

/** The file in a data folder that keeps the API key of the local service. */
export function apiKeyFile(folder: string): string {
  return join(folder, 'api-key');
}

export function writeLocalService(folder: string, service: LocalService): void {
  writeFileSync(fileIn(folder), JSON.stringify(service));
}

/** @throws Error if no local service has been started on the folder. */
export function readLocalService(folder: string): LocalService {
  return JSON.parse(readFileSync(fileIn(folder), 'utf8')) as LocalService;
}

export function removeLocalService(folder: string): void {
  rmSync(fileIn(folder), { force: true });
}

function fileIn(folder: string): string {
  return join(folder, 'service.json');
}

/** Leads the SDK of this process to the database of a local service. Must be called before the SDK is used. */
export function useLocalDatabase({
  databaseEndpoint,
  region,
  accessKeyId,
}: Pick<LocalService, 'databaseEndpoint' | 'region' | 'accessKeyId'>): void {
  // The developer's own settings, such as a profile, would lead it elsewhere.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: databaseEndpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
  });
}
