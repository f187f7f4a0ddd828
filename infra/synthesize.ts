import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot, UsageError } from './command.ts';

/**
 * Inputs of the synthesis. npm updates `.package-lock.json` whenever the installed packages change, so this file
 * represents all packages.
 */
const INPUTS = ['{functions,infra,shared}/**', '*.json', 'node_modules/.package-lock.json'];

/** Synthesizes the stacks with `run` into the folder `assembly` if an input has changed or `isForced` is set. */
export async function synthesizeIfChanged(
  assembly: string,
  isForced = false,
  run: (assembly: string) => Promise<void> = synthesize,
): Promise<void> {
  const digestFile = join(assembly, 'inputs.sha256');
  const inputs = digestOfInputs();
  if (!isForced && existsSync(digestFile) && readFileSync(digestFile, 'utf8') === inputs) {
    return console.log(
      'Reusing the last synthesis because no source has changed (--synth forces a new synthesis).',
    );
  }
  console.log('Synthesizing the stacks …');
  rmSync(digestFile, { force: true });
  await run(assembly);
  // If an input changed during the synthesis, the assembly can be outdated and must not be reused.
  if (digestOfInputs() === inputs) writeFileSync(digestFile, inputs);
}

function digestOfInputs(): string {
  const files = globSync(INPUTS, { cwd: projectRoot, exclude: ['infra/*/node_modules'], withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
    .map((file) => [file, readFileSync(file, 'base64')]);
  return hash('sha256', JSON.stringify([process.version, files]));
}

/**
 * Synthesizes all stacks like `cdk synth`, but without the checks that precede a deployment. The app gets no
 * environment variables of this process, so the assembly does not depend on them.
 *
 * @param environment environment variables of the app @default - none
 * @throws UsageError with the app's output if the synthesis fails.
 */
export async function synthesize(assembly: string, environment?: Record<string, string>): Promise<void> {
  rmSync(assembly, { recursive: true, force: true });
  const { context } = JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8'));
  Object.assign(context, {
    'aws:cdk:enable-path-metadata': true,
    'aws:cdk:enable-asset-metadata': true,
    unchecked: true,
  });
  const env = { CDK_OUTDIR: assembly, CDK_CONTEXT_JSON: JSON.stringify(context), ...environment };
  const parameters = ['--require', './infra/require-node.cjs', 'infra/app.ts'];
  const running = promisify(execFile)(process.execPath, parameters, { cwd: projectRoot, env });
  // If this process exits, the app must not continue to write into the folder `assembly`.
  const kill = () => running.child.kill();
  process.prependOnceListener('exit', kill);
  try {
    await running;
  } catch (error) {
    const { message, stderr } = error as Error & { stderr: string };
    throw new UsageError(`The stacks cannot be synthesized:\n${stderr.trim() || message}`);
  } finally {
    process.off('exit', kill);
  }
}
