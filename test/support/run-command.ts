import assert from 'node:assert/strict';
import { type ChildProcess, execFile, type ExecFileException } from 'node:child_process';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunningModule {
  process: ChildProcess;
  ended: Promise<Outcome>;
}

/** Runs a module of the project, `infra/operate/keys/main.ts`, to its end; a failure is an outcome like any other. */
export function runModule(...parameters: Parameters<typeof startModule>): Promise<Outcome> {
  return startModule(...parameters).ended;
}

/**
 * Starts a module of the project. Of AWS there is nothing within its reach but what the environment adds.
 *
 * @param input all that it can read on standard input.
 */
export function startModule(
  module: string,
  parameters: string[],
  environment: Record<string, string> = {},
  input = '',
): RunningModule {
  let finish: (outcome: Outcome) => void;
  const ended = new Promise<Outcome>((resolve) => {
    finish = resolve;
  });
  const child = execFile(
    process.execPath,
    [module, ...parameters],
    {
      cwd: projectRoot,
      env: commandEnvironment(environment),
      maxBuffer: Infinity,
    },
    (error, stdout, stderr) => finish({ code: exitCode(error), stdout, stderr }),
  );
  child.stdin!.on('error', () => {}); // it need not read what it is given
  child.stdin!.end(input);
  return { process: child, ended };
}

/** @returns the environment of this process without the developer's settings, which would lead a command elsewhere. */
export function commandEnvironment(additions: Record<string, string>): NodeJS.ProcessEnv {
  // `npm run test:http` has a BASE_URL and an API_KEY of its own.
  const others = Object.entries(process.env).filter(
    ([name]) => !/^(?:AWS_|npm_|(?:BASE_URL|API_KEY)$)/.test(name),
  );
  return {
    ...Object.fromEntries(others),
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_EC2_METADATA_DISABLED: 'true',
    ...sharedCompileCache(),
    // Jest's workers have colors on a terminal, and some commands print otherwise in CI.
    FORCE_COLOR: '0',
    CI: 'false',
    ...additions,
  };
}

/**
 * Half of a start is compiling the SDK: the processes of one test run share the compiled code.
 *
 * @returns environment variables for a process that a test starts.
 */
export function sharedCompileCache(): { NODE_COMPILE_CACHE?: string } {
  const folder = process.env['PET_STORE_TEST_RUN'];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: join(folder, 'compiled') };
}

/** @returns what a command printed that succeeded without an error message. */
export function done({ code, stdout, stderr }: Outcome): string {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout;
}

/** @returns the only line of a command that failed. */
export function errorOutput({ code, stdout, stderr }: Outcome): string {
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  assert.match(stderr, /^[^\n]*\n$/);
  return stderr.trimEnd();
}

/** What ended it by a signal, or before it began, has no number. */
function exitCode(error: ExecFileException | null): number {
  if (!error) return 0;
  return typeof error.code === 'number' ? error.code : 1;
}
