import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { collections } from '../../shared/contract/operations.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// oasdiff judges the changes of openapi.json. These tests are about the settings in .oasdiff.yaml, without which it would
// allow some changes that the contract rules out, and forbid some that it allows.

const isInstalled = spawnSync('oasdiff', ['--version']).status === 0;
if (!isInstalled && process.env['CI'] === 'true')
  throw new Error('oasdiff is not installed. See "Breaking changes" in CONTRIBUTING.md.');

const base = join(temporaryFolder(), 'base.json');
const revision = join(temporaryFolder(), 'revision.json');

const [{ operations }] = collections;

// These functions return the parts of a document that the changes below are about.
const pathOf = ({ path }: { path: string }) => path.replace('/v1', '');
const listOf = (it: any): any => it.paths[pathOf(operations.list)].get;
const createOf = (it: any): any => it.paths[pathOf(operations.create)].post;
const getOf = (it: any): any => it.paths[pathOf(operations.get)].get;
const limitOf = (it: any): any => listOf(it).parameters.find(({ name }: any) => name === 'limit').schema;
const headersOf = (it: any): any => listOf(it).responses[200].headers;
const itemOf = (it: any): any => schemaIn(it, createOf(it).responses[201]);
const newItemOf = (it: any): any => schemaIn(it, createOf(it).requestBody);
const enumOf = (it: any): any => Object.values<any>(it.components.schemas).find((schema) => schema.enum).enum;

function schemaIn(document: any, { content }: any): any {
  const { schema } = content['application/json'];
  return schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema;
}

/** Makes a change of openapi.json, and returns the ids of the breaking changes that oasdiff finds. */
function breakingChangesIn(change: (document: any) => unknown): string[] {
  const document: any = parseJson(readFileSync('openapi.json', 'utf8'));
  Object.assign(getOf(document), { deprecated: true, 'x-sunset': daysFromNow(1_000) });
  writeFileSync(base, stringifyJson(document));
  change(document);
  writeFileSync(revision, stringifyJson(document));
  const parameters = ['breaking', base, revision, '--format', 'json'];
  const { status, stdout } = spawnSync('oasdiff', parameters, { encoding: 'utf8' });
  const ids: string[] = JSON.parse(stdout || '[]').map(({ id }: { id: string }) => id);
  expect(status).toBe(ids.length > 0 ? 1 : 0);
  return ids;
}

const daysFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

(isInstalled ? describe : describe.skip)('oasdiff with the settings of .oasdiff.yaml', () => {
  test.each<[change: string, id: string, make: (document: any) => unknown]>([
    [
      'a response without an optional field',
      'response-optional-property-removed',
      (it) => {
        const { properties, required } = itemOf(it);
        delete properties[Object.keys(properties).find((name) => !required.includes(name))!];
      },
    ],
    [
      'a response without a required field',
      'response-required-property-removed',
      (it) => delete itemOf(it).properties.id,
    ],
    ['a response without a header', 'optional-response-header-removed', (it) => delete headersOf(it).Link],
    ['another success status', 'response-success-status-removed', (it) => delete createOf(it).responses[201]],
    [
      'a new required field',
      'new-required-request-property',
      (it) => {
        newItemOf(it).properties.added = { type: 'string' };
        newItemOf(it).required.push('added');
      },
    ],
    ['a filter with fewer values', 'request-parameter-enum-value-removed', (it) => enumOf(it).pop()],
    ['no parameters', 'request-parameter-removed', (it) => (listOf(it).parameters = [])],
    ['shorter pages', 'request-parameter-max-decreased', (it) => (limitOf(it).maximum = 50n)],
    ['another default', 'request-parameter-default-value-changed', (it) => (limitOf(it).default = 10n)],
    [
      'an earlier removal',
      'api-sunset-date-changed-earlier',
      (it) => (getOf(it)['x-sunset'] = daysFromNow(900)),
    ],
    [
      'a removal before its day',
      'api-path-removed-before-sunset',
      (it) => delete it.paths[pathOf(operations.get)],
    ],
    [
      'a late announcement',
      'api-sunset-date-too-small',
      (it) => Object.assign(listOf(it), { deprecated: true, 'x-sunset': daysFromNow(360) }),
    ],
  ])('rejects %s', (_change, id, make) => {
    expect(breakingChangesIn(make)).toContain(id);
  });

  test.each<[change: string, make: (document: any) => unknown]>([
    ['a new optional field', (it) => [newItemOf(it), itemOf(it)].map((one) => (one.properties.added = {}))],
    ['a new operation', (it) => (it.paths[pathOf(operations.get)].patch = { responses: { 200: {} } })],
    ['a status of an error that no longer occurs', (it) => delete listOf(it).responses[413]],
    ['a later removal', (it) => (getOf(it)['x-sunset'] = daysFromNow(1_100))],
    [
      'longer pages',
      (it) => {
        limitOf(it).maximum = 200n;
        schemaIn(it, listOf(it).responses[200]).maxItems = 200n;
      },
    ],
    ['other texts', (it) => Object.assign(listOf(it), { summary: 'a', description: 'b', operationId: 'c' })],
  ])('accepts %s', (_change, make) => {
    expect(breakingChangesIn(make)).toEqual([]);
  });
});
