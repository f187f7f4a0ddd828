import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compactName } from '../../shared/names.ts';
import { pathOption, projectRoot, UsageError } from '../command.ts';
import { operatorAccessKeyId } from './emulator/dynamodb/dynamodb.ts';
import { accountId, region } from './emulator/template/intrinsics.ts';

/** Value of `--data` for a local service that keeps its data in memory. */
export const IN_MEMORY = 'memory';

/** Name prefix of the temporary folders of local services that keep their data in memory. */
export const TEMPORARY_PREFIX = `${compactName}-`;

const SERVICE_FILE = 'service.json';

/** Connection data that a local service writes to its data folder or temporary folder for operator commands. */
export interface LocalService {
  stage: string;
  baseUrl: string;
  apiKeysTable: string;
  databaseEndpoint: string;
}

/** ARN of the operator who issues, rotates and revokes keys of a local service. */
export const localOperator = `arn:aws:iam::${accountId}:user/${operatorAccessKeyId}`;

/** Returns the folder in which the local service keeps the data of a stage if `--data` is omitted. */
export function defaultDataFolder(stage = 'staging'): string {
  return join(projectRoot, `.${compactName}`, stage);
}

/**
 * Returns the absolute path of the folder in `--data`, or `memory`.
 *
 * @throws UsageError if the folder is the root of a disk, or its name is blank
 */
export function dataOption(data: string): string {
  if (data === IN_MEMORY) return data;
  const folder = pathOption('--data', data);
  // The root of a disk and a name of spaces are most likely typing errors.
  if (data.trim() === '' || dirname(folder) === folder)
    throw new UsageError('--data must name a folder other than the root of a disk.');
  return folder;
}

/** Creates a folder for a local service that keeps its data in memory. The folder is deleted when the process exits. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), TEMPORARY_PREFIX));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a service's connection data to a file in `folder`. Returns a function that deletes the file. */
export function writeLocalService(folder: string, service: LocalService): () => void {
  const file = join(folder, SERVICE_FILE);
  writePrivately(file, JSON.stringify(service));
  return () => rmSync(file, { force: true });
}

/** Writes a file that only this user can read, because the file contains a secret. */
export function writePrivately(file: string, text: string): void {
  rmSync(file, { force: true }); // writeFileSync does not change the mode of an existing file.
  writeFileSync(file, text, { mode: 0o600 });
}

/** Returns the connection data in a folder. @throws Error if the folder contains none. */
export function readLocalService(folder: string): LocalService {
  return JSON.parse(readFileSync(join(folder, SERVICE_FILE), 'utf8')) as LocalService;
}

/**
 * Returns the running local service that `--data` specifies.
 *
 * @param data value of `--data` @default - the default folder or, if no service uses it, the only service in memory
 * @param parent folder that contains the temporary folders of services in memory
 * @throws UsageError if this service is not running, or if more than one service in memory could be meant.
 */
export async function findLocalService(data?: string, parent = tmpdir()): Promise<LocalService> {
  const inMemoryOnly = data === IN_MEMORY;
  const folder = data && !inMemoryOnly ? dataOption(data) : defaultDataFolder();
  if (!inMemoryOnly) {
    const onDisk = await findRunning(folder);
    if (onDisk) return onDisk;
  }
  // If --data names a folder, services in memory are not meant.
  const isMemoryMeant = !data || inMemoryOnly;
  const candidates = isMemoryMeant ? await Promise.all(temporaryFolders(parent).map(findRunning)) : [];
  const inMemory = candidates.filter((service) => service !== undefined);
  if (inMemory.length > 1) {
    const services = inMemory.map((service) => `${service.baseUrl} in ${service.folder}`).join(', ');
    throw new UsageError(`Several local services are running: ${services}. Choose one with --data FOLDER.`);
  }
  if (inMemory[0]) return inMemory[0];
  const place = inMemoryOnly ? 'in memory' : `with the data folder ${folder}`;
  throw new UsageError(
    `No local service is running ${place}. Run npm start${data ? ` -- --data ${data}` : ''}.`,
  );
}

/** Returns the temporary folders in `parent` that this user owns, because commands must not use the service of another user. */
function temporaryFolders(parent: string): string[] {
  return globSync(`${TEMPORARY_PREFIX}*`, { cwd: parent })
    .map((name) => join(parent, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.uid === (process.getuid?.() ?? 0));
}

/** Returns the service in `folder` if its database responds, because a killed service leaves its connection data. */
async function findRunning(folder: string): Promise<(LocalService & { folder: string }) | undefined> {
  try {
    const service = readLocalService(folder);
    const { headers } = await fetch(service.databaseEndpoint, { signal: AbortSignal.timeout(5_000) });
    const isDatabase = headers.get('Content-Type') === 'application/x-amz-json-1.0';
    return isDatabase ? { ...service, folder } : undefined;
  } catch {
    return undefined;
  }
}

/** Returns settings that connect an SDK client to a local service and override the developer's AWS settings. */
export function databaseSettings({ databaseEndpoint }: Pick<LocalService, 'databaseEndpoint'>) {
  return {
    endpoint: databaseEndpoint,
    region,
    credentials: { accessKeyId: operatorAccessKeyId, secretAccessKey: 'local' },
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
  };
}
