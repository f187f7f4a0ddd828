import { type Stage, stagesOf } from '../../infra/settings.ts';
import { onceInRun } from '../support/assembly.ts';
import { runModule } from '../support/run-command.ts';
import type { StackTemplate } from '../support/stack-template.ts';
import { allSettings, domain, stages } from '../support/stages.ts';

const { certificateArn, hostedZoneId: _hostedZoneId, ...named } = domain;
const { certificateArn: _certificateArn, ...inZone } = domain;

/** Production's settings in a stage that retains no data, with a domain whose DNS record and certificate are not in the stack. */
const drill: Stage = {
  ...stages.production,
  name: 'drill',
  retainData: false,
  domain: { ...named, certificateArn, disableDefaultEndpoint: true },
};

/** Stages with the settings that the stages of test/support/stages.ts lack. */
export const variants = {
  /** Production with all optional settings, as a deployment with `-c canary=off` synthesizes it. */
  everySetting: stagesOf({ production: { ...allSettings, domain: inZone } }, { canary: 'off' })[0]!,
  drill,
};

/** Returns the template of a variant. Its functions have no bundles, and `cdk synth` has not checked it. */
export async function variantTemplate(name: keyof typeof variants): Promise<StackTemplate> {
  // Loading the CDK takes longer than reading a template, so one process synthesizes all variants for all test files.
  const { code, stdout, stderr } = await onceInRun('variants', () =>
    runModule('test/stack/synthesize-variants.ts', []),
  );
  if (code !== 0) throw new Error(`The variants cannot be synthesized:\n${stderr}`);
  return JSON.parse(stdout)[name];
}
