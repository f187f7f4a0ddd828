import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { UsageError } from '../command.ts';
import { temporaryFolderPrefix } from './local-service.ts';

export function tablesIn(folder: string): string {
  return join(folder, 'tables');
}

/** Creates a folder and its parents. In Node 24, `mkdirSync` with the option `recursive` hangs in `/proc`. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder);
}

/** Creates a temporary folder that is deleted when the process exits. */
export function temporaryFolder(): string {
  try {
    const folder = mkdtempSync(temporaryFolderPrefix);
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    return folder;
  } catch (error) {
    throw new UsageError(`Set TMPDIR to a writable folder (${(error as Error).message}).`);
  }
}

/** Returns a UsageError if the data folder or its disk caused the error. Otherwise, returns the given error. */
export function explainFolderError(folder: string, error: unknown): unknown {
  if (typeof error !== 'object' || error === null || error instanceof UsageError) return error;
  const { path, message, ...others } = error as NodeJS.ErrnoException;
  const code = String(others.code);
  if (/no space left|quota exceeded|file too large/i.test(message)) {
    const advice = 'Free disk space and restart the local service. The stored data is intact.';
    return new UsageError(`The disk is full (${message}). ${advice}`);
  }
  if (code.startsWith('LEVEL_')) {
    const advice = 'Choose another folder with --data, or delete the data.';
    return new UsageError(`The data in ${folder} cannot be read (${message}). ${advice}`);
  }
  const isFolderError = path ? isWithin(path, folder) || isWithin(folder, path) : /^E(?:IO|ROFS)$/.test(code);
  if (!isFolderError) return error;
  return new UsageError(`The folder ${folder} is unusable (${message}). Choose another folder with --data.`);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}
