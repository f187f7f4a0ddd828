import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import * as v from 'valibot';
import { openApiJson, serverObjects } from '../../infra/openapi/document.ts';
import { asOpenApi30 } from '../../infra/openapi/openapi-3.0.ts';
import { parameterObjects } from '../../infra/openapi/schema-objects.ts';
import { withoutReferences } from '../support/references.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections } from '../../shared/contract/operations.ts';
import { domain, stages } from '../support/stages.ts';
import { hasTools, toolModules } from '../support/tools.ts';

const text = readFileSync('openapi.json', 'utf8');

// `npm run check` makes the same comparison, but mutation tests do not run this command. They find changed limits and texts
// with this test.
test('openapi.json is identical to the output of npm run generate', () => {
  expect(text).toBe(openApiJson());
});

afterEach(() => {
  jest.restoreAllMocks();
});

(hasTools() ? describe : describe.skip)('after npm ci --prefix test/tools,', () => {
  // Each version of OpenAPI has its own rules, so the linter checks both documents. For example, only 3.1 allows a schema to
  // have several types.
  test.each([
    ['3.1.0', text],
    ['3.0.3', stringifyJson(asOpenApi30(parseJson(text)))],
  ])('the document has no linter errors as OpenAPI %s', async (_version, source) => {
    const { createConfig, lintFromString } = await import(
      pathToFileURL(`${toolModules}/@redocly/openapi-core/lib/index.js`).href
    );
    const config = await createConfig({ extends: ['recommended-strict'] });
    const problems: any[] = await lintFromString({ source, config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });
});

test('the OpenAPI document describes no deprecation headers if no operation is deprecated', () => {
  for (const collection of collections) {
    const byKind: Record<string, Operation> = collection.operations;
    for (const [kind, { deprecation: _deprecation, ...operation }] of Object.entries(byKind))
      jest.replaceProperty(byKind, kind, operation);
  }
  expect(openApiJson()).not.toMatch(/Deprecation|Sunset|Successor/);
});

test('parameters and headers that operations need are required', () => {
  const headers = v.object({ Always: v.string(), Sometimes: v.exactOptional(v.string()) });
  const query = v.object({ limit: v.optional(v.string(), '20'), since: v.string() });
  expect(parameterObjects({ query, headers }).map(({ name, required }) => [name, required])).toEqual([
    ['limit', undefined],
    ['since', true],
    ['Always', true],
    ['Sometimes', undefined],
  ]);
});

test('each stage has a server with its public URL, its domain or a placeholder, and production is the first server', () => {
  const { staging, production } = stages;
  expect(serverObjects({ staging, production, preview: { ...staging, domain } })).toMatchObject([
    { url: 'https://{host}/v1', description: 'Production', variables: { host: {} } },
    { url: 'https://{staging_host}/v1', description: 'Staging', variables: { staging_host: {} } },
    { url: 'https://api.example.com/v1', description: 'Preview' },
  ]);
  const publicUrl = 'https://example.com/shop';
  const behindProxy = serverObjects({ staging, production: { ...production, domain, publicUrl } });
  expect(behindProxy[0]).toEqual({ url: 'https://example.com/shop/v1', description: 'Production' });
});

test.each([
  ['experimental', 'Experimental'],
  ['beta', 'Beta'],
] as const)('an operation that is %s is marked in the documents', (stability, marker) => {
  const operations: Record<string, Operation> = collections[0].operations;
  const { id } = operations['list']!;
  jest.replaceProperty(operations, 'list', { ...operations['list']!, stability });
  const document: any = withoutReferences(parseJson(openApiJson()));
  const marked = Object.values<any>(document.paths)
    .flatMap(Object.values<any>)
    .filter((one) => one['x-stability']);
  const notice = `**${marker}**: This operation can change or be removed without notice.\n\n`;
  expect(marked).toMatchObject([{ operationId: id, 'x-stability': stability }]);
  expect(marked[0].description.slice(0, notice.length)).toBe(notice);
});
