import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RunnerError } from '../runner-error.ts';
import { parseTemplate, type Template } from './template.ts';

export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** The CDK's command, and the variables to run it with: it starts the app with the `node` that it finds, which must be this one. */
export const cdk = fileURLToPath(import.meta.resolve('aws-cdk/bin/cdk'));
export const cdkEnvironment = {
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
};

/**
 * Synthesizes the stack of a stage into a folder, the cloud assembly, as `cdk deploy` would before it uploads.
 *
 * @throws RunnerError with what the CDK said.
 */
export async function synthesize(assembly: string, stage: string): Promise<void> {
  const stack = stackName(stage);
  rmSync(assembly, { recursive: true, force: true });
  try {
    await promisify(execFile)(process.execPath, [cdk, 'synth', stack, '--quiet', '--output', assembly], {
      cwd: projectRoot,
      env: { ...process.env, ...cdkEnvironment },
    });
  } catch (error) {
    const { stderr } = error as { stderr: string };
    throw new RunnerError(`The stack ${stack} cannot be synthesized:\n${stderr.trim()}`);
  }
}

/** @throws RunnerError when the folder has no template of this stage, or one that the local service cannot run. */
export function readTemplate(stage: string, assembly: string): Template {
  const file = join(assembly, `${stackName(stage)}.template.json`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new RunnerError(`There is no ${file}: synthesize it with npx cdk synth ${stackName(stage)}.`);
  }
  return parseTemplate(text);
}

export function stackName(stage: string): string {
  return `PetStore-${stage}`;
}
