import { execFile, type ExecFileException } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a module of the project, `infra/keys.ts`, to its end; a failure is an outcome like any other. */
export function runModule(
  module: string,
  parameters: string[],
  environment: Record<string, string> = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [module, ...parameters],
      // Its output must not depend on where the tests run: on a terminal, whose workers have colours, or in CI.
      { cwd: projectRoot, env: { ...process.env, FORCE_COLOR: '0', CI: 'false', ...environment } },
      (error, stdout, stderr) => resolve({ code: exitCode(error), stdout, stderr }),
    );
  });
}

/** What ended it by a signal, or before it began, has no number. */
function exitCode(error: ExecFileException | null): number {
  if (!error) return 0;
  return typeof error.code === 'number' ? error.code : 1;
}
