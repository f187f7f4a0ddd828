import { afterEach, expect, jest, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { openApiJson, serverObjects } from '../../infra/openapi/document.ts';
import { exampleOf, parameterObjects } from '../../infra/openapi/schema-objects.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections } from '../../shared/contract/operations.ts';
import { domain, stages } from '../support/stages.ts';

// `npm run check` makes the same comparison, but mutation tests do not run this command. They find changed limits and texts
// with this test.
test('openapi.json is identical to the output of npm run generate', () => {
  expect(readFileSync('openapi.json', 'utf8')).toBe(openApiJson());
});

afterEach(() => {
  jest.restoreAllMocks();
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

test('a parameter without an example is not part of the examples of others', () => {
  const query = v.object({
    shelf: v.pipe(v.exactOptional(v.string()), v.examples(['7'])),
    genre: v.exactOptional(v.string()),
  });
  expect(exampleOf(query)).toStrictEqual({ shelf: '7' });
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

test('an operation that is experimental or beta is marked in the documents', () => {
  const operations: Record<string, Operation> = collections[0].operations;
  for (const stability of ['experimental', 'beta'] as const) {
    jest.replaceProperty(operations, 'list', { ...operations['list']!, stability });
    const { paths } = JSON.parse(openApiJson());
    const { 'x-stability': mark, description } = paths['/pets'].get;
    expect([mark, description]).toEqual([
      stability,
      expect.stringMatching(new RegExp(`^\\*\\*${stability}\\*\\*: This operation can change`, 'i')),
    ]);
  }
});
