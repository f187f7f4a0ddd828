import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { synthesize } from '../../infra/synthesize.ts';
import { stackName } from '../../shared/names.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';
import { type Outcome, runModule } from './run-command.ts';

/**
 * Synthesizes the stages for tests once for all test files in a run, as `npm start` does.
 *
 * @returns the folder of the cloud assembly. Tests must not change this folder, because all test files use it.
 * @throws Error with the app's message if the synthesis fails, for example because of a setting
 */
export async function sharedSynthesis(): Promise<string> {
  const assembly = join(process.env['TEST_RUN_FOLDER']!, 'cdk.out');
  const failure = await onceInRun('synthesis', () =>
    synthesize(assembly, stagesEnvironment()).then(
      () => '',
      ({ message }: Error) => message,
    ),
  );
  if (failure) throw new Error(failure);
  return assembly;
}

/**
 * Does something once for all test files in a run, and returns its result. The first caller does it while later callers
 * wait.
 *
 * @throws Error if what a different test file started does not finish in time
 */
export async function onceInRun<T>(name: string, run: () => Promise<T>): Promise<T> {
  const folder = process.env['TEST_RUN_FOLDER']!;
  const outcome = join(folder, `${name}.json`);
  // mkdirSync returns undefined if the folder exists, so only for the first caller it is new.
  if (mkdirSync(join(folder, `${name}-started`), { recursive: true })) {
    writeFileSync(`${outcome}.new`, JSON.stringify(await run()));
    renameSync(`${outcome}.new`, outcome);
  }
  const deadline = Date.now() + WAIT_LIMIT_MILLISECONDS;
  while (!existsSync(outcome)) {
    if (Date.now() > deadline)
      throw new Error(`The ${name} that a different test file started did not finish in time.`);
    await setTimeout(100);
  }
  return JSON.parse(readFileSync(outcome, 'utf8')) as T;
}

interface SynthOptions {
  /** Parameters of `cdk synth`, such as a stack's name. @default - all stacks */
  parameters?: string[];
  /** Path of the module that replaces `infra/stages.ts`. @default - the stages for tests */
  stages?: string;
}

/** Runs `cdk synth` with all checks and writes the cloud assembly to the folder `assembly`. */
export function cdkSynth(assembly: string, { parameters = [], stages }: SynthOptions = {}): Promise<Outcome> {
  // Unlike the command in cdk.json, this one does not check types, so that a test can run while other code is unfinished.
  const app = 'node --require ./infra/require-node.cjs infra/app.ts';
  const command = ['synth', ...parameters, '--quiet', '--app', app, '--output', assembly];
  return runModule('node_modules/aws-cdk/bin/cdk', command, {
    CDK_VALIDATION: 'true',
    // This clears the value that Jest sets, because the CDK's report depends on this variable.
    NODE_ENV: '',
    ...stagesEnvironment(stages),
  });
}

/**
 * Returns environment variables with which a command uses a different module in place of `infra/stages.ts`, so that a test
 * does not depend on the operators' settings.
 */
export function stagesEnvironment(stages = 'test/support/stages.ts'): { NODE_OPTIONS: string } {
  const hook = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(specifier, context, nextResolve) {
        const resolved = nextResolve(specifier, context);
        return resolved.url === '${urlOf('infra/stages.ts')}' ? { ...resolved, url: '${urlOf(stages)}' } : resolved;
      },
    });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` };
}

function urlOf(file: string): string {
  return new URL(`../../${file}`, import.meta.url).href;
}

/**
 * Copies the folder `assembly` to `copy` and replaces each match of `text` in the staging template. Returns `copy`.
 *
 * @throws Error if nothing matches
 */
export function changedAssembly(assembly: string, copy: string, text: RegExp, replacement: string): string {
  cpSync(assembly, copy, { recursive: true });
  const file = join(copy, `${stackName('staging')}.template.json`);
  const template = readFileSync(file, 'utf8');
  if (!text.test(template)) throw new Error(`The template does not contain ${text.source}.`);
  writeFileSync(file, template.replaceAll(text, replacement));
  return copy;
}

/** Copies the shared assembly to a folder in `parent` and disables API Gateway's authorizer cache in the copy. */
export async function assemblyWithoutCache(parent: string): Promise<string> {
  const assembly = await sharedSynthesis();
  const copy = join(parent, 'cdk.out');
  return changedAssembly(assembly, copy, /(?<="AuthorizerResultTtlInSeconds": )\d+/g, '0');
}

/** Creates a folder that is removed when this process exits, even after an error or Ctrl-C. */
export function folderUntilExit(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assembly-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  return folder;
}
