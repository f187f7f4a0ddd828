import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { openApiJson } from '../../../../infra/documents/openapi/document.ts';
import { operations } from '../../../../shared/contract/operations.ts';
import { hasTools, toolModules } from '../../../support/tools.ts';

describe.each([
  ['openapi.json', '3.1.1'],
  ['openapi-3.0.json', '3.0.4'],
] as const)('%s', (file, version) => {
  const text = readFileSync(file, 'utf8');

  test('is identical to the output of npm run generate', () => {
    expect(text).toBe(openApiJson(version));
  });

  (hasTools() ? describe : describe.skip)('after npm ci --prefix test/tools', () => {
    test('has no linter errors', async () => {
      const { createConfig, lintFromString } = await import(
        `${toolModules}/@redocly/openapi-core/lib/index.js`
      );
      const config = await createConfig({ extends: ['recommended-strict'] });
      const problems: any[] = await lintFromString({ source: text, config });
      expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
    });
  });
});

test('the OpenAPI document describes no deprecation headers if no operation is deprecated', () => {
  for (const operation of Object.values(operations)) Object.assign(operation, { deprecation: undefined });
  expect(openApiJson('3.1.1')).not.toMatch(/Deprecation|Sunset|Successor/);
});
