import { constants, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { claimStore } from './dynamodb.ts';
import { RunnerError } from './runner-error.ts';

// The folder of one local service: its tables, its key, and what it works with.

export function tablesIn(folder: string): string {
  return join(folder, 'tables');
}

/** The key that was issued for this folder at its first start. */
export function readKey(folder: string): string | undefined {
  const file = keyFileIn(folder);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
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
  await mkdir(tablesIn(folder), { recursive: true });
  await access(folder, constants.W_OK | constants.X_OK);
  const key = readKey(folder);
  if (key !== undefined && !key.startsWith(`pets_${stage}_`)) {
    throw new RunnerError(
      `The folder ${folder} holds the data of another stage: choose another with --data.`,
    );
  }
  return claimStore(tablesIn(folder));
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

/** An error as a sentence when it tells that something in the folder cannot be read or written; any other as it is. */
export function explainFolderError(folder: string, error: unknown): unknown {
  const { code, path, message } = error as Partial<NodeJS.ErrnoException>;
  if (code === undefined || (path !== folder && !path?.startsWith(folder + sep))) return error;
  return new RunnerError(`${reason(folder, path, code, message!)}: choose another with --data.`);
}

function reason(folder: string, path: string, code: string, message: string): string {
  const file = fileInTheWay(path);
  if (file !== undefined) return `The folder ${folder} cannot be made, because ${file} is a file`;
  if (code === 'EROFS') return `The folder ${folder} is on a read-only file system`;
  if (code !== 'EACCES' && code !== 'EPERM') return `The folder ${folder} cannot be used (${message})`;
  return path === folder || path === tablesIn(folder)
    ? `You may not write to the folder ${folder}`
    : `You may not write to ${path} in the folder of the data`;
}

/** What should be a folder on the way to this path, and is none. */
function fileInTheWay(path: string): string | undefined {
  let nearest = path;
  while (!existsSync(nearest)) {
    if (dirname(nearest) === nearest) return undefined;
    nearest = dirname(nearest);
  }
  return nearest !== path && !statSync(nearest).isDirectory() ? nearest : undefined;
}
