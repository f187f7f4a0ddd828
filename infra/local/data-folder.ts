import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { UsageError } from '../operate/command.ts';

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
  const folder = mkdtempSync(join(tmpdir(), 'petstore-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An error as a sentence if it is about the folder, a file in it, or a folder above it; any other error unchanged. */
export function explainFolderError(folder: string, error: unknown): unknown {
  const { code, path, message } = error as Partial<NodeJS.ErrnoException>;
  if (code === undefined || path === undefined) return error;
  if (!isWithin(path, folder) && !isWithin(folder, path)) return error;
  return new UsageError(`The folder ${folder} cannot be used (${message}): choose another with --data.`);
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder + sep);
}
