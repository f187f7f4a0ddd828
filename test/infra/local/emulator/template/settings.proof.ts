import { expect, test } from '@jest/globals';
import { createApiGateway } from '../../../../../infra/local/emulator/gateway/api-gateway.ts';
import { parseTemplate } from '../../../../../infra/local/emulator/template/template.ts';
import type { StageSettings } from '../../../../../infra/settings.ts';
import { changes } from '../../../../support/changed-stages.ts';
import { product } from '../../../../support/product.ts';
import { backup, domain, stages } from '../../../../support/stages.ts';
import { templateOf } from '../../../../support/template-of.ts';

// Developers run stages with the settings of operators, so the emulator must support what each setting adds.

// This variable disables the CDK's validation plugins, because they take a second per stack and also run in `cdk synth`.
process.env['CDK_VALIDATION'] = 'false';

const { staging, production } = stages;
const { certificateArn, ...inZone } = domain;
const external = { name: domain.name, certificateArn, disableDefaultEndpoint: true };

/** Stages by name, for each change. */
const changedStages: [string, Record<string, StageSettings>][] = [
  ['no change', stages],
  ...Object.entries(changes).map(([name, change]): [string, Record<string, StageSettings>] => [
    name,
    change(stages),
  ]),
  ['a domain without a certificate', { staging: { ...staging, domain: inZone } }],
  ['a domain without a hosted zone', { production: { ...production, domain: external } }],
];

test.each(changedStages)(
  'the emulator supports the stages after this change of infra/stages.ts: %s',
  (_what, changed) => {
    for (const [stage, settings] of Object.entries(changed)) expectSupport(templateOf({ stage, settings }));
  },
);

// docs/pipelines.md describes this change of cdk.json.
test('the emulator supports a permissions boundary', () => {
  const context = { '@aws-cdk/core:permissionsBoundary': { name: `${product.tag}-boundary` } };
  const settings = { ...production, backup };
  expectSupport(templateOf({ stage: 'production', settings, context }));
});

function expectSupport(template: object): void {
  const text = JSON.stringify(template);
  expect(() => createApiGateway(parseTemplate(text), new Map())).not.toThrow();
}
