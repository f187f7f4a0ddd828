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
    const parameters = [cdk, 'synth', stack, '--quiet', '--output', assembly];
    const env = { ...process.env, ...cdkEnvironment };
    const running = promisify(execFile)(process.execPath, parameters, { cwd: projectRoot, env });
    // It would write on into a folder that is removed at the end.
    process.prependOnceListener('exit', () => running.child.kill());
    await running;
  } catch (error) {
    const { stderr } = error as { stderr: string };
    const [noSpace] = /ENOSPC: .*/.exec(stderr) ?? [];
    if (noSpace) throw new Error(noSpace, { cause: error });
    requireStack(stack, assembly);
    throw new UsageError(`The stack ${stack} cannot be synthesized:\n${stderr.trim()}`);
  }
}

/** @throws UsageError if the folder has no template of this stage, or one that the local service cannot run. */
export function readTemplate(stage: string, assembly: string): Template {
  const stack = stackName(stage);
  try {
    requireStack(stack, assembly);
    return parseTemplate(readFileSync(join(assembly, `${stack}.template.json`), 'utf8'));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message } = error as Error;
    throw new UsageError(
      `${assembly} cannot be read (${message}): synthesize it with npx cdk synth ${stack}.`,
    );
  }
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
