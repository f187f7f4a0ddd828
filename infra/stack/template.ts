import { App } from 'aws-cdk-lib';
import { readFileSync } from 'node:fs';
import { PetStoreStack, type PetStoreStackProps } from './stack.ts';

export interface CloudFormationTemplate {
  Resources: Record<string, { Type: string; Properties: Record<string, any> }>;
}

/** The template of a stage, with stand-ins for its bundles: for looking at, not for deploying. */
export function templateOf(props: PetStoreStackProps): CloudFormationTemplate {
  const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
  const app = new App({
    context: {
      ...context,
      'aws:cdk:bundling-stacks': [],
      // `cdk synth` prints warnings; here nobody asked for them.
      '@aws-cdk/core:failSynthOnValidationErrors': false,
    },
  });
  const { artifactId } = new PetStoreStack(app, 'Stack', props);
  return app.synth().getStackArtifact(artifactId).template as CloudFormationTemplate;
}
