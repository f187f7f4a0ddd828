import { expect, test } from '@jest/globals';
import { createApiGateway } from '../../../../infra/local/emulator/gateway/api-gateway.ts';
import { parseTemplate } from '../../../../infra/local/emulator/template/template.ts';
import type { StageSettings } from '../../../../infra/settings.ts';
import { product } from '../../../support/product.ts';
import { allSettings, domain, stages } from '../../../support/stages.ts';
import { templateOf } from '../../../support/template-of.ts';

// Developers run stages with the settings of operators, so the emulator must support what each setting adds.

const { firewall: _firewall, ...minimal } = stages.production;
const { certificateArn, hostedZoneId: _hostedZoneId, ...named } = domain;
// docs/pipelines.md describes this change of cdk.json.
const boundary = { '@aws-cdk/core:permissionsBoundary': { name: `${product.tag}-boundary` } };

test.each<[string, StageSettings, object?]>([
  ['without optional settings', minimal],
  ['with all optional settings and a permissions boundary', allSettings, boundary],
  [
    'without the default endpoint',
    { ...minimal, domain: { ...named, certificateArn, disableDefaultEndpoint: true } },
  ],
])('the emulator supports a stage %s', (_what, settings, context = {}) => {
  const text = JSON.stringify(templateOf({ stage: 'production', settings, context }));
  expect(() => createApiGateway(parseTemplate(text), new Map())).not.toThrow();
});
