import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a module such as `infra/operate/keys.ts` until it exits, and returns the exit code and the output. */
export function runModule(...parameters: Parameters<typeof startModule>): Promise<Outcome> {
  return startModule(...parameters).ended;
}

/**
 * Starts a project module. The module has no access to AWS unless `environment` contains credentials.
 *
 * @param input the content of standard input
 */
export function startModule(
  module: string,
  parameters: string[],
  environment: Record<string, string> = {},
  input = '',
) {
  // The home folder of the developer can contain settings, such as ~/.cdk.json.
  const home = join(process.env['TEST_RUN_FOLDER'] ?? tmpdir(), 'home');
  const env = commandEnvironment({ HOME: home, USERPROFILE: home, ...environment });
  const running = promisify(execFile)(process.execPath, [module, ...parameters], {
    env,
    maxBuffer: Infinity,
  });
  running.child.stdin!.on('error', () => {}); // The command may exit without reading its input.
  running.child.stdin!.end(input);
  return { process: running.child, ended: outcomeOf(running) };
}

/** Returns the outcome of a child process. The code is 1 if the process did not start or a signal terminated it. */
export function outcomeOf(running: Promise<Omit<Outcome, 'code'>>): Promise<Outcome> {
  return running.then(
    (streams) => ({ code: 0, ...streams }),
    ({ code, stdout, stderr }) => ({ code: typeof code === 'number' ? code : 1, stdout, stderr }),
  );
}

/** Environment variables with which the SDK reads neither the developer's settings nor those of an EC2 instance. */
export const withoutAwsSettings = {
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_EC2_METADATA_DISABLED: 'true',
};

/**
 * Returns this process's environment with `additions`, and without what tests have set in it for the code that they call.
 * By default, a command that serves HTTP uses any free port.
 */
export function commandEnvironment(additions: Record<string, string>): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(
    ([name]) => !/^(?:AWS_|(?:BASE_URL|API_KEY)$)/.test(name),
  );
  return {
    ...Object.fromEntries(others),
    PORT: '0',
    ...withoutAwsSettings,
    ...sharedCompileCache(),
    // Without these variables, the output would contain colors on a terminal and would be different in CI.
    FORCE_COLOR: '0',
    CI: 'false',
    ...additions,
  };
}

/**
 * Returns environment variables with which all processes in a test run share compiled code. Otherwise, each command
 * would spend half of its startup time compiling the SDK.
 */
export function sharedCompileCache(): { NODE_COMPILE_CACHE?: string } {
  const folder = process.env['TEST_RUN_FOLDER'];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: join(folder, 'compiled') };
}

/** Returns a command's standard output. @throws AssertionError if the command failed or wrote to standard error */
export function done({ code, stdout, stderr }: Outcome): string {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout;
}

/** Returns a failed command's error message. @throws AssertionError if the code is not 1 or there is more output */
export function errorOutput({ code, stdout, stderr }: Outcome): string {
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  assert.match(stderr, /^[^\n]*\n$/);
  return stderr.trimEnd();
}

/** Returns whether a shell is installed. */
export function isInstalled(shell: string): boolean {
  return !spawnSync(shell, ['-c', 'true']).error;
}
