import { App } from 'aws-cdk-lib';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { stackName } from '../../shared/names.ts';
import type { StageSettings } from '../../infra/settings.ts';
import { projectRoot } from '../../infra/command.ts';
import type { Bundles } from '../../infra/stack/bundling.ts';
import { addStacks } from '../../infra/stack/stack.ts';
import type { StackTemplate } from '../support/stack-template.ts';

interface StageOptions {
  stage: string;
  settings: StageSettings;
  /** Additional fields of `context` in cdk.json. */
  context?: object;
}

/** Returns a stage's template. The template cannot be deployed, because the functions' bundles are missing. */
export function templateOf({ stage, settings, context }: StageOptions): StackTemplate {
  return templatesOf({ [stage]: settings }, context)[stage]!;
}

/** Returns the templates of stages by name, and that of the account stack as `account`. */
export function templatesOf(
  all: Record<string, StageSettings>,
  context: object = {},
): Record<string, StackTemplate> {
  const cdkJson = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const folder = mkdtempSync(join(tmpdir(), 'template-'));
  const app = new App({
    outdir: folder,
    context: { ...cdkJson.context, ...context },
    // The validation takes a second per stack, and also runs in `cdk synth`.
    builtinCloudFormationValidation: false,
  });
  const stages = Object.entries(all).map(([name, settings]) => ({ ...settings, name }));
  addStacks(app, stages, emptyBundles(folder));
  const assembly = app.synth();
  const templates = ['account', ...Object.keys(all)].map((name) => [
    name,
    assembly.getStackByName(stackName(name)).template as StackTemplate,
  ]);
  rmSync(folder, { recursive: true });
  return Object.fromEntries(templates);
}

/** Creates an empty folder in `folder` for each function. Returns the paths of the missing bundles by module name. */
function emptyBundles(folder: string): Bundles {
  const names = globSync('*.ts', { cwd: join(projectRoot, 'functions') }).map((file) =>
    basename(file, '.ts'),
  );
  for (const name of names) mkdirSync(join(folder, name));
  return new Map(names.map((name) => [name, join(folder, name, `${name}.mjs`)]));
}
