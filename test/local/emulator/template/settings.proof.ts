import { expect, test } from '@jest/globals';
import { createApiGateway } from '../../../../infra/local/emulator/gateway/api-gateway.ts';
import { parseTemplate } from '../../../../infra/local/emulator/template/template.ts';
import { allSettings, domain } from '../../../support/stages.ts';
import { templateOf } from '../../../stack/template-of.ts';

// Developers run stages with the settings of operators.
test('the emulator supports a stage with all optional settings and a permissions boundary', () => {
  const settings = { ...allSettings, domain: { ...domain, disableDefaultEndpoint: true } };
  // docs/deploy.md describes this change of cdk.json.
  const context = { '@aws-cdk/core:permissionsBoundary': { name: 'pet-store-boundary' } };
  const text = JSON.stringify(templateOf({ stage: 'production', settings, context }));
  expect(() => createApiGateway(parseTemplate(text), new Map())).not.toThrow();
});
