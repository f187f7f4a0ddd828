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
import { synthesize } from '../../infra/local/template/assembly.ts';
import { stackName } from '../../shared/names.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';
import { type Outcome, runModule } from './run-command.ts';

/** The output of a synthesis, and the folder of its cloud assembly. */
interface Synthesis extends Outcome {
  assembly: string;
}

/**
 * Synthesizes the app once for all files of a test run. The first caller synthesizes, and the others wait.
 *
 * @returns the synthesis, whose folder is read-only
 * @throws Error if the synthesis of another test file does not end in time.
 */
export async function sharedSynthesis(): Promise<Synthesis> {
  const folder = process.env['PET_STORE_TEST_RUN']!;
  const assembly = join(folder, 'cdk.out');
  const outcome = join(folder, 'outcome.json');
  // mkdir returns undefined if the folder exists.
  if (mkdirSync(join(folder, 'started'), { recursive: true })) {
    writeFileSync(`${outcome}.new`, JSON.stringify(await cdkSynth(assembly)));
    renameSync(`${outcome}.new`, outcome);
  }
  const deadline = Date.now() + WAIT_LIMIT_MILLISECONDS;
  while (!existsSync(outcome)) {
    if (Date.now() > deadline) throw new Error('The synthesis that another test file started never ended.');
    await setTimeout(100);
  }
  return { ...(JSON.parse(readFileSync(outcome, 'utf8')) as Outcome), assembly };
}

/**
 * Runs `cdk synth` on `infra/app.ts` with all checks, and writes the assembly to the folder.
 *
 * @param additions lines to append to modules of the app, by path: `infra/stages.ts`
 */
export function cdkSynth(
  assembly: string,
  parameters: string[] = [],
  additions: Record<string, string> = {},
): Promise<Outcome> {
  const addedByUrl = Object.fromEntries(
    Object.entries(additions).map(([file, lines]) => [
      new URL(`../../${file}`, import.meta.url).href,
      `\n${lines}`,
    ]),
  );
  const hook = `
    import { registerHooks } from 'node:module';
    const added = ${JSON.stringify(addedByUrl)};
    registerHooks({
      load(url, context, nextLoad) {
        const loaded = nextLoad(url, context);
        return url in added ? { ...loaded, source: loaded.source + added[url] } : loaded;
      },
    });`;
  const command = ['synth', ...parameters, '--quiet', '--output', assembly];
  return runModule('node_modules/aws-cdk/bin/cdk', command, {
    CDK_VALIDATION: 'true',
    // With this variable, the CDK detects a test and changes its report.
    NODE_ENV: '',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
  });
}

/** Synthesizes the stacks as `npm start` does, into a folder that is removed when this process exits. */
export async function synthesizeStaging(): Promise<string> {
  const folder = folderUntilExit();
  await synthesize(folder);
  return folder;
}

/** Copies an assembly, replaces a text in the staging template, and returns the folder of the copy. */
export function changedAssembly(assembly: string, copy: string, text: RegExp, replacement: string): string {
  cpSync(assembly, copy, { recursive: true });
  const file = join(copy, `${stackName('staging')}.template.json`);
  const template = readFileSync(file, 'utf8');
  if (!text.test(template)) throw new Error(`The template has no ${text.source}.`);
  writeFileSync(file, template.replaceAll(text, replacement));
  return copy;
}

/** Copies the shared assembly, and disables API Gateway's cache of authorizer decisions in the copy. */
export async function assemblyWithoutCache(parent: string): Promise<string> {
  const { assembly } = await sharedSynthesis();
  const copy = join(parent, 'cdk.out');
  return changedAssembly(assembly, copy, /(?<="AuthorizerResultTtlInSeconds": )\d+/g, '0');
}

/** Creates a folder that is removed when this process exits, even after an error or Ctrl-C. */
export function folderUntilExit(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-assembly-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  return folder;
}
