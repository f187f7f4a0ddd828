import { jest } from '@jest/globals';
import { Readable, Writable } from 'node:stream';
import { format } from 'node:util';
import { commandEnvironment, type Outcome } from '../support/run-command.ts';

export interface Settings {
  /** Environment variables of the command, which otherwise has no access to AWS. */
  environment?: Record<string, string>;
  /** Content of standard input. */
  input?: string;
  /** Whether standard output is read. If false, writing to it fails as if its reader had ended. */
  isRead?: boolean;
}

let runs = 0;

/**
 * Runs a module such as `infra/operate/keys.ts` in the process of the test, and returns what a process of its own would
 * return. Starting a process would take a third of a second.
 */
export function runInProcess(module: string, words: string[], settings?: Settings): Promise<Outcome> {
  runs += 1;
  // A command runs when its module is imported. Jest imports a module again for a new query.
  return withStandIns(words, () => import(`../../${module}?run=${runs}`), settings);
}

/** Thrown by the stand-in for `process.exit`, so that the command ends there. */
class Exit extends Error {}

let interruptions: (() => void)[] = [];

/** Does what Ctrl-C does to the running command. @throws Error if it would terminate the process */
export function interrupt(): void {
  if (interruptions.length === 0) throw new Error('Ctrl-C would terminate the command.');
  for (const act of interruptions) act();
}

/** Calls `command` with stand-ins for the parts of the process that commands use. */
export async function withStandIns(
  words: string[],
  command: () => Promise<unknown>,
  { environment = {}, input = '', isRead = true }: Settings = {},
): Promise<Outcome> {
  const output = { stdout: '', stderr: '' };
  const stdout = new Writable({
    write(chunk, _encoding, settle) {
      if (!isRead) return settle(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      output.stdout += chunk;
      settle();
    },
  });
  const stderr = new Writable({
    write(chunk, _encoding, settle) {
      output.stderr += chunk;
      settle();
    },
  });
  interruptions = [];
  const standIns = {
    argv: [process.execPath, 'command', ...words],
    env: commandEnvironment(environment),
    stdin: Readable.from([input]),
    stdout,
    stderr,
    exitCode: undefined as number | undefined,
    exit(code: number) {
      process.exitCode = code;
      throw new Exit();
    },
    on(event: string, act: () => void) {
      if (event === 'SIGINT') interruptions.push(act);
    },
  };
  const replaced = Object.keys(standIns).map((name) => [
    name,
    Object.getOwnPropertyDescriptor(process, name),
  ]);
  const log = jest.spyOn(console, 'log').mockImplementation((...values) => {
    output.stdout += `${format(...values)}\n`;
  });
  const error = jest.spyOn(console, 'error').mockImplementation((...values) => {
    output.stderr += `${format(...values)}\n`;
  });
  for (const [name, value] of Object.entries(standIns))
    Object.defineProperty(process, name, { value, writable: true, configurable: true });
  try {
    await command().catch((reason: unknown) => {
      if (!(reason instanceof Exit)) throw reason;
    });
    return { code: Number(process.exitCode ?? 0), ...output };
  } finally {
    log.mockRestore();
    error.mockRestore();
    for (const [name, descriptor] of replaced as [string, PropertyDescriptor?][]) {
      delete (process as any)[name];
      if (descriptor) Object.defineProperty(process, name, descriptor);
    }
  }
}
