import { constants, existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { claimStore } from './dynamodb/dynamodb.ts';
import { RunnerError } from './runner-error.ts';

// The folder of one local service: its tables, its key, and what it works with.

export function tablesIn(folder: string): string {
  return join(folder, 'tables');
}

/**
 * The key that was issued for this folder at its first start.
 *
 * @throws RunnerError when a folder is in its place.
 */
export function readKey(folder: string): string | undefined {
  const file = keyFileIn(folder);
  if (!existsSync(file)) return undefined;
  if (isFolder(file)) {
    throw new RunnerError(
      `${file} should be the file of the API key and is a folder: remove it, or choose another folder with --data.`,
    );
  }
  return readFileSync(file, 'utf8') || undefined; // a full disk may have left it empty
}

export function keyFileIn(folder: string): string {
  return join(folder, 'api-key');
}

/**
 * Before anything is written there: the folder must be there, writable, free, and not another stage's. Keeps other local services
 * away until it is released, which the database has to see to then.
 *
 * @throws RunnerError saying what to do.
 */
export async function claimFolder(folder: string, stage: string): Promise<() => Promise<void>> {
  await makeFolder(tablesIn(folder));
  await access(folder, constants.W_OK | constants.X_OK);
  const key = readKey(folder);
  if (key !== undefined && !key.startsWith(`pets_${stage}_`)) {
    throw new RunnerError(
      `The folder ${folder} holds the data of another stage: choose another with --data.`,
    );
  }
  return claimStore(tablesIn(folder));
}

/** Level by level: where none can be made, in `/proc` for one, the `recursive` of Node 24 never ends. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && isFolder(folder)) return;
    if (code !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder);
  }
}

/** A folder for what has to lie on disk while the data is in memory; gone with the process. */
export function temporaryFolder(): string {
  let folder: string;
  try {
    folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  } catch (error) {
    throw new RunnerError(
      `No folder can be made in ${tmpdir()} (${(error as Error).message}): set TMPDIR to one that you may write to.`,
    );
  }
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * An error as a sentence when it tells that something in the folder, or on the way to it, cannot be read or written; any other as it
 * is.
 */
export function explainFolderError(folder: string, error: unknown): unknown {
  const { code, path, message } = error as Partial<NodeJS.ErrnoException>;
  if (code === undefined || path === undefined) return error;
  if (!isWithin(path, folder) && !isWithin(folder, path)) return error;
  return new RunnerError(`${reason(folder, path, code, message!)}: choose another with --data.`);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}

function reason(folder: string, path: string, code: string, message: string): string {
  const obstacle = obstacleOn(code === 'EEXIST' ? path : dirname(path));
  if (obstacle !== undefined) return `The folder ${folder} cannot be used, because ${obstacle}`;
  if (code === 'EROFS') return `The folder ${folder} is on a read-only file system`;
  if (code !== 'EACCES' && code !== 'EPERM') return `The folder ${folder} cannot be used (${message})`;
  if (path === folder || path === tablesIn(folder)) return `You may not write to the folder ${folder}`;
  return isWithin(path, folder)
    ? `You may not read and write ${path} in the folder of the data`
    : `You may not write to ${dirname(path)}, where the folder ${folder} is to be made`;
}

/** What is there of this path and should be a folder, and is none. */
function obstacleOn(path: string): string | undefined {
  let nearest = path;
  while (!isThere(nearest)) {
    if (dirname(nearest) === nearest) return undefined;
    nearest = dirname(nearest);
  }
  if (isFolder(nearest)) return undefined;
  return `${nearest} is ${existsSync(nearest) ? 'a file' : 'a link that leads nowhere'}`;
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** Whether anything has this name, be it a link that leads nowhere. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
