import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { UsageError } from '../operate/command.ts';
import { temporaryFolderPrefix } from '../operate/keys/local-service.ts';

// The folder of one local service: its tables, its key, and its working files.

export function tablesIn(folder: string): string {
  return join(folder, 'tables');
}

/** Level by level: in `/proc`, where no folder can be created, the `recursive` of Node 24 never returns. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder);
}

/** A folder for the working files while the data is in memory. It is removed when the process exits. */
export function temporaryFolder(): string {
  try {
    const folder = mkdtempSync(temporaryFolderPrefix);
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    return folder;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}: set TMPDIR to a folder that you can write to.`);
  }
}

/** An error as a sentence if it is about the folder, its disk, its data, or a folder above it; any other error unchanged. */
export function explainFolderError(folder: string, error: unknown): unknown {
  if (typeof error !== 'object' || error === null || error instanceof UsageError) return error;
  const { path, message, ...others } = error as NodeJS.ErrnoException;
  const code = String(others.code);
  if (/no space left|quota exceeded|file too large/i.test(message)) {
    const advice = 'make room and start again; what a data folder keeps is complete';
    return new UsageError(`The disk is full (${message}): ${advice}.`);
  }
  if (code.startsWith('LEVEL_')) {
    const advice = 'choose another folder with --data, or delete the data';
    return new UsageError(`The data in ${folder} cannot be read (${message}): ${advice}.`);
  }
  const isAbout = path ? isWithin(path, folder) || isWithin(folder, path) : /^E(?:IO|ROFS)$/.test(code);
  if (!isAbout) return error;
  return new UsageError(`The folder ${folder} cannot be used (${message}): choose another with --data.`);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}
