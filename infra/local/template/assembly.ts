import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { stackName } from '../../../shared/names.ts';
import { UsageError } from '../../operate/command.ts';
import { parseTemplate, type Template } from './template.ts';

export const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

/** What a synthesis reads. npm writes the last file when it has installed packages, which are not read each time. */
const INPUTS = ['{functions,infra,shared}/**', '*.json', 'node_modules/.package-lock.json'];

/** Synthesizes into a folder, unless its assembly is complete and nothing that it was made from has changed. */
export async function synthesizeIfChanged(assembly: string, isForced = false): Promise<void> {
  const mark = `${assembly}.digest`;
  const inputs = digestOf(projectRoot, INPUTS);
  const currentMark = () => `${process.version} ${inputs} ${digestOf(assembly, ['**'])}`;
  if (!isForced && existsSync(mark) && readFileSync(mark, 'utf8') === currentMark()) {
    return console.log(
      'Nothing changed since the last synthesis, which is reused (--synth makes a new one).',
    );
  }
  console.log('Synthesizing the stacks …');
  rmSync(mark, { force: true });
  await synthesize(assembly);
  // What is saved meanwhile may be in the assembly or not.
  if (digestOf(projectRoot, INPUTS) === inputs) writeFileSync(mark, currentMark());
}

/** A digest of the names and contents of files. */
function digestOf(cwd: string, patterns: string[]): string {
  const isFile = (name: string) => statSync(join(cwd, name), { throwIfNoEntry: false })?.isFile();
  const names = globSync(patterns, { cwd }).filter(isFile).toSorted();
  return hash('sha256', JSON.stringify(names.map((name) => [name, readFileSync(join(cwd, name), 'base64')])));
}

/**
 * Synthesizes all stacks into a folder, the cloud assembly, as the CDK's command does, but without the checks for what is
 * deployed. The app gets none of this process's environment, so that the assembly follows from files alone.
 *
 * @throws UsageError with the app's output if it fails.
 */
export async function synthesize(assembly: string): Promise<void> {
  rmSync(assembly, { recursive: true, force: true });
  try {
    const context = {
      ...JSON.parse(readFileSync(join(projectRoot, 'cdk.json'), 'utf8')).context,
      'aws:cdk:enable-path-metadata': true,
      'aws:cdk:enable-asset-metadata': true,
      'pet-store:unchecked': true,
    };
    const env = { CDK_OUTDIR: assembly, CDK_CONTEXT_JSON: JSON.stringify(context) };
    const parameters = ['--require', './infra/require-node.cjs', 'infra/app.ts'];
    const running = promisify(execFile)(process.execPath, parameters, { cwd: projectRoot, env });
    // It would write on into a folder that is removed at the end.
    const kill = () => running.child.kill();
    process.prependOnceListener('exit', kill);
    await running.finally(() => process.off('exit', kill));
  } catch (error) {
    const { message, stderr = message } = error as Error & { stderr?: string };
    const [noSpace] = /ENOSPC: .*/.exec(stderr) ?? [];
    if (noSpace) throw new Error(noSpace, { cause: error });
    throw new UsageError(`The stacks cannot be synthesized:\n${stderr.trim() || message}`);
  }
}

/** @throws UsageError if the folder has no template of this stage, or one that the local service cannot run. */
export function readTemplate(stage: string, assembly: string): Template {
  const stack = stackName(stage);
  // Only the app knows the stages, and it synthesizes a template for each.
  const templates = globSync(`${stackName('*')}.template.json`, { cwd: assembly }).toSorted();
  const names = templates.map((file) => file.slice(stackName('').length, file.indexOf('.')));
  const stages = names.filter((name) => name !== 'account');
  if (stages.length > 0 && !stages.includes(stage))
    throw new UsageError(`There is no stack ${stack}: --stage must be one of ${stages.join(', ')}.`);
  try {
    return parseTemplate(readFileSync(join(assembly, `${stack}.template.json`), 'utf8'));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { message } = error as Error;
    throw new UsageError(
      `${assembly} cannot be read (${message}): synthesize it with npx cdk synth ${stack}.`,
    );
  }
}
