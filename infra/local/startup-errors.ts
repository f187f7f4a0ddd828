import { sep } from 'node:path';
import { UsageError } from '../command.ts';
import { EmulatorError } from './emulator/errors.ts';

/** Returns a UsageError if the stack, the port, the data folder or its disk caused the error, or else the same error. */
export function explainError(folder: string, error: unknown): unknown {
  if (error instanceof EmulatorError)
    return new UsageError(`${error.message} To see all options, run npm start -- --help.`);
  if (!Error.isError(error) || error instanceof UsageError) return error;
  const { path, message, code = '' } = error as NodeJS.ErrnoException;
  if (/no space left|quota exceeded|file too large/i.test(message)) {
    const remedy = 'Free disk space and restart the local service. The stored data is intact.';
    return new UsageError(`The disk is full (${message}). ${remedy}`);
  }
  if (/^Corruption: |^IO error: .*: (?:No such file or directory|Invalid argument)$/.test(message)) {
    const remedy = 'Choose another folder with --data. Delete the data only if you do not need it.';
    return new UsageError(`The tables in ${folder} are damaged (${message}). ${remedy}`);
  }
  const isFolderError = path
    ? (path + sep).startsWith(folder + sep) || (folder + sep).startsWith(path + sep)
    : /^(?:EIO|EROFS|LEVEL_\w+)$/.test(code);
  if (!isFolderError) return error;
  const remedy = 'Do not delete the data. Check the permissions, or choose another folder with --data.';
  return new UsageError(`The folder ${folder} is unusable (${message}). ${remedy}`);
}
