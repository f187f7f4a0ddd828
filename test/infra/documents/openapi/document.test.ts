import { expect, test } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { readFileSync } from 'node:fs';
import { openApiJson } from '../../../../infra/documents/openapi/document.ts';
import { errorCatalogue, errorCodes } from '../../../../shared/contract/errors.ts';

// What breaks clients is found by `npm run openapi:diff`, against the contract that they have been given.

const text = readFileSync(new URL('../../../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text);

test('openapi.json is what the code describes: if not, run npm run generate', () => {
  expect(text).toBe(openApiJson());
});

test('a linter finds nothing in openapi.json', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source: text, config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});

test('getPet alone is deprecated, and has the day of its removal', () => {
  const operations = Object.values<object>(document.paths).flatMap((item) => Object.values<any>(item));
  expect(operations.filter(({ deprecated }) => deprecated)).toMatchObject([
    {
      operationId: 'getPet',
      'x-sunset': '2030-12-05',
      description: expect.stringContaining('5 December 2030'),
    },
  ]);
});

test('every error code is explained', () => {
  for (const code of errorCodes) {
    expect(document.info.description).toContain(`\n| \`${code}\` | ${errorCatalogue[code].status} | `);
  }
  expect(document.components.schemas.Error.properties.code.enum).toEqual(errorCodes);
});
