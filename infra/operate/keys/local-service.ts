import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../command.ts';

/** The `--data` of a local service that keeps its data in memory. */
export const IN_MEMORY = 'memory';

/** How the names of the folders begin that such services have for their working files. */
export const temporaryFolderPrefix = join(tmpdir(), 'petstore-');

/** How operator commands reach a local service. It keeps this in its data folder while it runs. */
export interface LocalService {
  stage: string;
  baseUrl: string;
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

/** Writes the file of a service that runs on the folder. @returns a function that removes it */
export function writeLocalService(folder: string, service: LocalService): () => void {
  writeFileSync(fileIn(folder), JSON.stringify(service));
  return () => rmSync(fileIn(folder), { force: true });
}

/** @throws Error if no local service has been started on the folder. */
export function readLocalService(folder: string): LocalService {
  return JSON.parse(readFileSync(fileIn(folder), 'utf8')) as LocalService;
}

/**
 * Returns the running local service that `--data` specifies, and its folder.
 *
 * @default data - the service on the default folder, or else the only one that keeps its data in memory
 * @throws UsageError if there is none, or several keep their data in memory.
 */
export async function findLocalService(data = ''): Promise<{ folder: string; service: LocalService }> {
  const folder = data ? resolve(data) : defaultDataFolder();
  const onFolder = data === IN_MEMORY ? undefined : await findRunning(folder);
  if (onFolder) return onFolder;
  const folders = data && data !== IN_MEMORY ? [] : temporaryFolders();
  const found = (await Promise.all(folders.map(findRunning))).filter((one) => one !== undefined);
  if (found.length > 1) {
    const services = found.map((one) => `${one.service.baseUrl} on ${one.folder}`).join(', ');
    throw new UsageError(`Several local services run: choose the folder of one with --data (${services}).`);
  }
  if (found[0]) return found[0];
  const place = data === IN_MEMORY ? 'in memory' : `on ${folder}`;
  throw new UsageError(`No local service runs ${place}: start it with npm start.`);
}

/** The user's own: another user of the machine could offer a service that collects what it gets. */
function temporaryFolders(): string[] {
  return readdirSync(dirname(temporaryFolderPrefix))
    .map((name) => join(dirname(temporaryFolderPrefix), name))
    .filter((path) => path.startsWith(temporaryFolderPrefix))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.uid === (process.getuid?.() ?? 0));
}

/** A service that was killed leaves its file. Its port may be another's by now, which does not know the path of the endpoint. */
async function findRunning(folder: string): Promise<{ folder: string; service: LocalService } | undefined> {
  try {
    const service = readLocalService(folder);
    const { headers } = await fetch(service.databaseEndpoint, { signal: AbortSignal.timeout(5_000) });
    const isDatabase = headers.get('Content-Type') === 'application/x-amz-json-1.0';
    return isDatabase ? { folder, service } : undefined;
  } catch {
    return undefined;
  }
}

function fileIn(folder: string): string {
  return join(folder, 'service.json');
}

type DatabaseAccess = Pick<LocalService, 'databaseEndpoint' | 'region' | 'accessKeyId'>;

/** Leads the SDK of this process to the database of a local service. Must be called before the SDK is used. */
export function useLocalDatabase(access: DatabaseAccess): void {
  // The developer's own settings, such as a profile, would lead it elsewhere.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, localDatabaseEnvironment(access));
}

/** Returns the environment variables that lead the SDK to the database of a local service. */
export function localDatabaseEnvironment({ databaseEndpoint, region, accessKeyId }: DatabaseAccess) {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: databaseEndpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
  };
}
