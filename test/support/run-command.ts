import { type ChildProcess, execFile, type ExecFileException } from 'node:child_process';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { sharedCompileCache } from './compile-cache.ts';

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
      env: {
        ...process.env,
        // What the developer has set would lead it elsewhere.
        ...Object.fromEntries(
          Object.keys(process.env)
            .filter(isOfDevelopers)
            .map((name) => [name, undefined]),
        ),
        AWS_CONFIG_FILE: devNull,
        AWS_SHARED_CREDENTIALS_FILE: devNull,
        AWS_EC2_METADATA_DISABLED: 'true',
        ...sharedCompileCache(),
        // Its output must not depend on where the tests run: on a terminal, whose workers have colours, or in CI.
        FORCE_COLOR: '0',
        CI: 'false',
        ...environment,
      },
      maxBuffer: Infinity,
    },
    (error, stdout, stderr) => finish({ code: exitCode(error), stdout, stderr }),
  );
  child.stdin!.on('error', () => {}); // it need not read what it is given
  child.stdin!.end(input);
  return { process: child, ended };
}

/** Tests by HTTP have a key of theirs. */
function isOfDevelopers(name: string): boolean {
  return /^(?:AWS_|npm_|(?:BASE_URL|API_KEY)$)/.test(name);
}

/** What ended it by a signal, or before it began, has no number. */
function exitCode(error: ExecFileException | null): number {
  if (!error) return 0;
  return typeof error.code === 'number' ? error.code : 1;
}
