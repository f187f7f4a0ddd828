import { describe, expect, test } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { readFileSync } from 'node:fs';
import { openApiJson } from '../../../../infra/documents/openapi/document.ts';
import { errorCatalogue, errorCodes } from '../../../../shared/contract/errors.ts';
import { operations } from '../../../../shared/contract/operations.ts';

const text = readFileSync(new URL('../../../../openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text);

describe('openapi.json', () => {
  test('is what the code describes: if not, run npm run generate', () => {
    expect(text).toBe(openApiJson());
  });

  test('gives a linter nothing to complain of', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems = await lintFromString({ source: text, config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test('is the description of version 1.0.0, in OpenAPI 3.1', () => {
    expect([document.openapi, document.info.version]).toEqual(['3.1.1', '1.0.0']);
  });

  test('has both environments, each with its base address as a variable', () => {
    const servers = document.servers.map(({ description, url, variables }: any) => [
      description,
      url,
      Object.keys(variables),
    ]);
    expect(servers).toEqual([
      ['Production', '{base_url}', ['base_url']],
      ['Staging', '{staging_base_url}', ['staging_base_url']],
    ]);
  });

  test('asks every operation for the API key as a bearer token', () => {
    expect(document.security).toEqual([{ apiKey: [] }]);
    expect(document.components.securitySchemes.apiKey).toMatchObject({ type: 'http', scheme: 'bearer' });
    for (const { security } of documentedOperations()) expect(security).toBeUndefined();
  });

  test('has the operations and no more', () => {
    const documented = documentedOperations().map(({ operationId }) => operationId);
    expect(new Set(documented)).toEqual(new Set(Object.keys(operations)));
    expect(documented).toHaveLength(Object.keys(operations).length);
  });

  test('calls getPet alone deprecated, with the day of its removal', () => {
    const deprecated = documentedOperations().filter((operation) => operation.deprecated);
    expect(deprecated).toMatchObject([
      {
        operationId: 'getPet',
        'x-sunset': '2030-12-05',
        description: expect.stringContaining('5 December 2030'),
      },
    ]);
  });

  test('has the bounds of limit and its default', () => {
    expect(document.paths['/pets'].get.parameters[0]).toMatchObject({
      name: 'limit',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    });
  });

  test.each([
    ['Pet', 'id', '1', '9007199254740991'],
    ['Pet', 'categoryId', '-9223372036854775808', '9223372036854775807'],
    ['NewPet', 'categoryId', '-9223372036854775808', '9223372036854775807'],
  ])('has %s.%s as an int64 with exact bounds', (schema, name, minimum, maximum) => {
    const written = text.slice(text.indexOf(`"${schema}": {\n`));
    const bounds = new RegExp(
      `"${name}": {\\s+"type": "integer",\\s+"format": "int64",\\s+"minimum": (.*),\\s+"maximum": (.*),`,
    );
    expect(bounds.exec(written)?.slice(1)).toEqual([minimum, maximum]);
  });

  test.each(errorCodes)('explains %s', (code) => {
    const { status } = errorCatalogue[code];
    expect(document.info.description).toContain(`\n| \`${code}\` | ${status} | `);
    expect(document.components.schemas.Error.properties.code.enum).toContain(code);
  });
});

function documentedOperations(): any[] {
  return Object.values<object>(document.paths).flatMap((item) => Object.values(item));
}
