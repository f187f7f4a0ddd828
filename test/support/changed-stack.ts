import { afterAll } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PetStoreStack, type PetStoreStackProps } from '../../infra/stack/stack.ts';
import { type StageName, stages } from '../../infra/stages.ts';
import type { StackTemplate } from './stack-template.ts';

// The CDK's validation plugins cost a second for each stack; `cdk synth` runs them.
process.env['CDK_VALIDATION'] = 'false';

const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));

// The CDK would leave the folder of every synthesis behind.
const assemblies = mkdtempSync(join(tmpdir(), 'pet-store-templates-'));
afterAll(() => rmSync(assemblies, { recursive: true, force: true }));

/** An app without stacks, under the context of cdk.json, that makes no bundles. */
export function emptyApp(): App {
  return new App({
    context: {
      ...context,
      'aws:cdk:bundling-stacks': [],
      // Warnings are asked for where they are tested, and printed nowhere.
      '@aws-cdk/core:failSynthOnValidationErrors': false,
    },
    outdir: mkdtempSync(join(assemblies, 'app-')),
  });
}

/** The stack of a stage as `infra/app.ts` makes it, without bundles. */
export function petStoreStack(stage: StageName, props: Partial<PetStoreStackProps> = {}): PetStoreStack {
  return new PetStoreStack(emptyApp(), `PetStore-${stage}`, { stage, settings: stages[stage], ...props });
}

/** Without bundles. For comparing two of them, with no change for the one. */
export function changedTemplate(stage: StageName, props: Partial<PetStoreStackProps> = {}): StackTemplate {
  return Template.fromStack(petStoreStack(stage, props)).toJSON() as StackTemplate;
}
