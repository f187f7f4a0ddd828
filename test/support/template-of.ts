import { App } from 'aws-cdk-lib';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stackName } from '../../shared/names.ts';
import type { StageSettings } from '../../infra/settings.ts';
import { addStacks } from '../../infra/stack/stack.ts';

interface CloudFormationTemplate {
  Resources: Record<string, { Type: string; Properties: Record<string, any> }>;
}

/** Returns a stage's template for inspection. The template cannot be deployed, because no function is bundled. */
export function templateOf({ stage, settings }: { stage: string; settings: StageSettings }) {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
  const outdir = mkdtempSync(join(tmpdir(), 'pet-store-template-'));
  const app = new App({
    outdir,
    context: {
      ...context,
      'aws:cdk:bundling-stacks': [],
      // Findings do not stop this synthesis, because `cdk synth` reports them before a deployment.
      '@aws-cdk/core:failSynthOnValidationErrors': false,
    },
  });
  addStacks(app, { [stage]: settings });
  try {
    return app.synth().getStackByName(stackName(stage)).template as CloudFormationTemplate;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}
