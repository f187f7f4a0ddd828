import { Readable, Writable } from 'node:stream';
import { format } from 'node:util';
import { commandEnvironment, type Outcome } from './run-command.ts';

let runs = 0;

interface RunOptions {
  environment?: Record<string, string>;
  /** Content of standard input. */
  input?: string;
  /** Whether standard output is closed. */
  isUnread?: boolean;
}

/** Runs a module in this process. Takes a few milliseconds, whereas `runModule` starts a process and takes 0.3 s. */
export async function runInProcess(
  module: string,
  parameters: string[],
  { environment = {}, input = '', isUnread = false }: RunOptions = {},
): Promise<Outcome> {
  const outcome: Outcome = { code: 0, stdout: '', stderr: '' };
  const exited = new Error('The command has ended.');
  const streamTo = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk, _encoding, done) {
        outcome[name] += String(chunk);
        done();
      },
    });
  const closed = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  });
  const restore = replaceMembers(process, {
    argv: [process.execPath, module, ...parameters],
    env: commandEnvironment(environment),
    stdin: Readable.from(input),
    stdout: isUnread ? closed : streamTo('stdout'),
    stderr: streamTo('stderr'),
    exitCode: undefined,
    exit(code = 0) {
      process.exitCode = code;
      throw exited;
    },
    on: () => process, // signals are not simulated
  });
  const restoreConsole = replaceMembers(console, {
    log: (...values: unknown[]) => process.stdout.write(`${format(...values)}\n`),
    error: (...values: unknown[]) => process.stderr.write(`${format(...values)}\n`),
  });
  try {
    runs += 1;
    await import(`../../${module}?run=${runs}`);
  } catch (error) {
    if (error !== exited) throw error;
  } finally {
    outcome.code = Number(process.exitCode ?? 0);
    restoreConsole();
    restore();
  }
  return outcome;
}

/** Replaces members of `object` and returns a function that restores the original members. */
function replaceMembers(object: object, members: Record<string, unknown>): () => void {
  const names = Object.keys(members);
  const originals = names.map((name) => Object.getOwnPropertyDescriptor(object, name));
  for (const name of names) {
    Object.defineProperty(object, name, { value: members[name], writable: true, configurable: true });
  }
  return () => {
    for (const [index, name] of names.entries()) {
      const original = originals[index];
      if (original) Object.defineProperty(object, name, original);
      else Reflect.deleteProperty(object, name);
    }
  };
}
