import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stackName } from '../../../shared/names.ts';
import { UsageError } from '../../operate/command.ts';
import { parseTemplate, type Template } from './template.ts';

export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** The CDK's command, and the variables to run it with: it starts the app with the `node` that it finds, which must be this one. */
export const cdk = fileURLToPath(import.meta.resolve('aws-cdk/bin/cdk'));
export const cdkEnvironment = {
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
};

/** Synthesizes the stack of a stage into a folder, the cloud assembly. @throws UsageError with the CDK's output. */
export async function synthesize(assembly: string, stage: string): Promise<void> {
  const stack = stackName(stage);
  rmSync(assembly, { recursive: true, force: true });
  try {
    await promisify(execFile)(process.execPath, [cdk, 'synth', stack, '--quiet', '--output', assembly], {
      cwd: projectRoot,
      env: { ...process.env, ...cdkEnvironment },
    });
  } catch (error) {
    requireStack(stack, assembly);
    const { stderr } = error as { stderr: string };
    throw new UsageError(`The stack ${stack} cannot be synthesized:\n${stderr.trim()}`);
  }
}

/** @throws UsageError if the folder has no template of this stage, or one that the local service cannot run. */
export function readTemplate(stage: string, assembly: string): Template {
  const stack = stackName(stage);
  requireStack(stack, assembly);
  const file = join(assembly, `${stack}.template.json`);
  if (existsSync(file)) return parseTemplate(readFileSync(file, 'utf8'));
  throw new UsageError(`There is no ${file}: synthesize it with npx cdk synth ${stack}.`);
}

/** Only the app knows the stages, and it names them in the assembly. */
function requireStack(stack: string, assembly: string): void {
  const manifest = join(assembly, 'manifest.json');
  if (!existsSync(manifest)) return;
  const { artifacts } = JSON.parse(readFileSync(manifest, 'utf8'));
  const stacks = Object.keys(artifacts).filter((name) => artifacts[name].type === 'aws:cloudformation:stack');
  if (stacks.includes(stack)) return;
  const stages = stacks.map((name) => name.replace(stackName(''), '')).filter((name) => name !== 'account');
  throw new UsageError(`There is no stack ${stack}: --stage must be one of ${stages.join(', ')}.`);
}
