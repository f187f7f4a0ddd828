import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RunnerError } from './runner-error.ts';
import { parseTemplate, type Template } from './template.ts';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const cdk = fileURLToPath(import.meta.resolve('aws-cdk/bin/cdk'));

/**
 * Synthesizes the stacks of these stages into a folder, the cloud assembly, as `cdk deploy` would before it uploads.
 *
 * @throws RunnerError with what the CDK said.
 */
export async function synthesize(assembly: string, ...stages: string[]): Promise<void> {
  const stacks = stages.map(stackName);
  rmSync(assembly, { recursive: true, force: true });
  try {
    await promisify(execFile)(process.execPath, [cdk, 'synth', ...stacks, '--quiet', '--output', assembly], {
      cwd: projectRoot,
      // The CDK starts the app with the `node` that it finds, which must be this one.
      env: { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) },
    });
  } catch (error) {
    const { stderr } = error as { stderr: string };
    throw new RunnerError(`The stack ${stacks.join(', ')} cannot be synthesized:\n${stderr.trim()}`);
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

function stackName(stage: string): string {
  return `PetStore-${stage}`;
}
