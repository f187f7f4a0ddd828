import { expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApiGateway } from '../../../../../infra/local/emulator/gateway/api-gateway.ts';
import { parseTemplate } from '../../../../../infra/local/emulator/template/template.ts';
import type { StageSettings } from '../../../../../infra/settings.ts';
import { addStacks } from '../../../../../infra/stack/stack.ts';
import { stackName } from '../../../../../shared/names.ts';
import { backup, domain, stages } from '../../../../support/stages.ts';
import { emptyBundles } from '../../../../support/template-of.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

// Developers run stages with the settings of operators, so the emulator must support what each setting adds.

// Disables the CDK's validation plugins, which take a second per stack. `cdk synth` runs the plugins.
process.env['CDK_VALIDATION'] = 'false';

const folder = temporaryFolder();
const bundles = emptyBundles(folder);

/** Returns the text of a stage's template. `additions` are fields of `context` in cdk.json. */
function templateText(settings: StageSettings, additions = {}): string {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'));
  const unchecked = { '@aws-cdk/core:failSynthOnValidationErrors': false };
  const outdir = mkdtempSync(join(folder, 'app-'));
  const app = new App({ outdir, context: { ...context, ...unchecked, ...additions } });
  addStacks(app, [{ ...settings, name: 'preview' }], bundles);
  return JSON.stringify(app.synth().getStackByName(stackName('preview')).template);
}

const { staging, production } = stages;
const { firewall: _firewall, ...withoutFirewall } = production;
const { certificateArn, ...inZone } = domain;
const external = { name: domain.name, certificateArn, disableDefaultEndpoint: true };
// docs/pipelines.md describes this change of cdk.json.
const boundary = { '@aws-cdk/core:permissionsBoundary': { name: 'pet-store-boundary' } };

test.each<[string, StageSettings, additions?: object]>([
  ['the settings of staging', staging],
  ['the settings of production', production],
  ['neither canary deployments nor a firewall', { ...withoutFirewall, canaryDeployments: false }],
  ['an alarm email address', { ...staging, alarmEmail: 'operators@example.com' }],
  ['a domain and its certificate', { ...staging, domain: inZone }],
  ['a domain without a hosted zone', { ...production, domain: external }],
  ['backups', { ...production, backup }],
  ['a permissions boundary', { ...production, backup }, boundary],
])('the emulator supports a stage with %s', (_what, settings, additions = {}) => {
  const text = templateText(settings, additions);
  expect(() => createApiGateway(parseTemplate(text), new Map())).not.toThrow();
});
