import { sep } from 'node:path';
import { UsageError } from '../command.ts';
import { EmulatorError } from './emulator/errors.ts';

/** What to do if the emulator cannot start. */
const advice: Record<EmulatorError['subject'], string> = {
  stack: 'Check --stage and --assembly, or synthesize with npx cdk synth.',
  unsupported:
    'Add a model to infra/local/emulator/template/resources.ts. For an intrinsic function or attribute, extend template.ts in the same folder.',
  tables: 'Choose another folder with --data, or delete the data if you do not need it.',
  lock: 'Stop the local service that uses this folder, or choose another folder with --data.',
  port: 'Choose another port with --port.',
};

/** Returns a UsageError if the stack, the port, the data folder or its disk caused the error, or else the same error. */
export function explainError(folder: string, error: unknown): unknown {
  if (error instanceof EmulatorError) return new UsageError(`${error.message} ${advice[error.subject]}`);
  if (!Error.isError(error) || error instanceof UsageError) return error;
  const { path, message, code = '' } = error as NodeJS.ErrnoException;
  if (/no space left|quota exceeded|file too large/i.test(message)) {
    const remedy = 'Free disk space and restart the local service. The stored data is intact.';
    return new UsageError(`The disk is full (${message}). ${remedy}`);
  }
  if (code.startsWith('LEVEL_'))
    return new UsageError(`The tables in ${folder} cannot be read (${message}). ${advice.tables}`);
  const isFolderError = path
    ? (path + sep).startsWith(folder + sep) || (folder + sep).startsWith(path + sep)
    : /^E(?:IO|ROFS)$/.test(code);
  if (!isFolderError) return error;
  return new UsageError(`The folder ${folder} is unusable (${message}). Choose another folder with --data.`);
}
