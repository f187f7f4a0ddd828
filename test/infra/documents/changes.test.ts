import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { differences } from '../../../infra/documents/changes/differences.ts';
import { withoutReferences } from '../../../infra/documents/openapi/references.ts';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';
import { runModule } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const file = join(temporaryFolder(), 'base.json');
const source: any = parseJson(readFileSync('openapi.json', 'utf8'));

// The start of the paths in the reported lines.
const GET = 'paths › /pets › get';
const LIMIT = `${GET} › parameters › limit`;
const STATUS = `${GET} › parameters › status`;
const RETRY_AFTER = `${GET} › responses › 503 › headers › Retry-After`;
const POST = 'paths › /pets › post';
const JSON_SCHEMA = 'content › application/json › schema';
const NEW_PET = `${POST} › requestBody › ${JSON_SCHEMA}`;
const PET = `${POST} › responses › 201 › ${JSON_SCHEMA}`;

// The same parts of a document.
const getOf = (document: any): any => document.paths['/pets'].get;
const parameterOf = (document: any, parameter: string): any =>
  getOf(document).parameters.find(({ name }: { name: string }) => name === parameter);
const retryAfterOf = (document: any): any => getOf(document).responses[503].headers['Retry-After'];
const postOf = (document: any): any => document.paths['/pets'].post;
const jsonSchemaOf = ({ content }: any): any => content['application/json'].schema;
const newPetOf = (document: any): any => jsonSchemaOf(postOf(document).requestBody);
const petOf = (document: any): any => jsonSchemaOf(postOf(document).responses[201]);

/** Changes a document in place. */
type Edit = (document: any) => unknown;

/** Returns a changed copy of a document. */
function edited(document: any, edit: Edit): any {
  const copy = parseJson(stringifyJson(document));
  edit(copy);
  return copy;
}

function remove(list: unknown[], item: unknown): void {
  list.splice(list.indexOf(item), 1);
}

const base = edited(withoutReferences(source), (document) => {
  document.paths['/stores'] = {};
  postOf(document)['x-sunset'] = '2030-12-05';
  petOf(document).properties.addedField = { type: 'string' };
});

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

/** Expects a single line that starts with `start`. The rest of a line can be a long value. */
function expectOneLine(lines: string[], start: string): void {
  expect(lines.map((line) => line.slice(0, start.length))).toEqual([start]);
}

const store = { name: 'store', in: 'query' };
const [in360Days, in370Days] = [daysFromNow(360), daysFromNow(370)];

const breaking: [line: string, Edit][] = [
  ['removed paths › /pets/{petId} › get: ', (it) => delete it.paths['/pets/{petId}'].get],
  [`removed ${STATUS}: `, (it) => remove(getOf(it).parameters, parameterOf(it, 'status'))],
  [`changed ${STATUS} › required: false → true`, (it) => (parameterOf(it, 'status').required = true)],
  [
    `added ${GET} › parameters › store: {"name":"store","in":"query","required":true}`,
    (it) => getOf(it).parameters.push({ ...store, required: true }),
  ],
  [
    `changed ${POST} › x-sunset: "2030-12-05" → "2029-12-05"`,
    (it) => (postOf(it)['x-sunset'] = '2029-12-05'),
  ],
  [`added ${GET} › x-sunset: "${in360Days}"`, (it) => (getOf(it)['x-sunset'] = in360Days)],
  [`changed ${LIMIT} › schema › default: 20 → 10`, (it) => (parameterOf(it, 'limit').schema.default = 10n)],
  [
    `removed ${POST} › requestBody › content › application/json: `,
    (it) => delete postOf(it).requestBody.content['application/json'],
  ],
  [`added ${STATUS} › schema › maxLength: 10`, (it) => (parameterOf(it, 'status').schema.maxLength = 10n)],
  [
    `removed ${STATUS} › schema › enum › "sold": "sold"`,
    (it) => remove(parameterOf(it, 'status').schema.enum, 'sold'),
  ],
  [`removed ${NEW_PET} › properties › status: `, (it) => delete newPetOf(it).properties.status],
  [`added ${NEW_PET} › required › "status": "status"`, (it) => newPetOf(it).required.push('status')],
  [
    `changed ${NEW_PET} › properties › categoryId › maximum: 9223372036854775807 → 9223372036854775806`,
    (it) => (newPetOf(it).properties.categoryId.maximum = 9223372036854775806n),
  ],
  [`removed ${PET} › required › "categoryId": `, (it) => remove(petOf(it).required, 'categoryId')],
  [
    `added ${PET} › properties › status › enum › "nonsense": "nonsense"`,
    (it) => petOf(it).properties.status.enum.push('nonsense'),
  ],
  [
    `removed ${GET} › responses › 200 › headers › Link: `,
    (it) => delete getOf(it).responses[200].headers.Link,
  ],
  [`removed ${RETRY_AFTER} › required: true`, (it) => delete retryAfterOf(it).required],
  ['removed x-other-requests › responses › 405: ', (it) => delete it['x-other-requests'].responses[405]],
  ['removed security › {"bearerAuth":[]}: {"bearerAuth":[]}', (it) => it.security.pop()],
  [
    'changed components › securitySchemes › bearerAuth › scheme: "bearer" → "basic"',
    (it) => (it.components.securitySchemes.bearerAuth.scheme = 'basic'),
  ],
];

const unclassified: [line: string, Edit][] = [
  ['added x-quota: 1', (it) => (it['x-quota'] = 1n)],
  ['added paths › /pets › parameters: []', (it) => (it.paths['/pets'].parameters = [])],
  [`changed ${STATUS} › in: "query" → "header"`, (it) => (parameterOf(it, 'status').in = 'header')],
  [
    `added ${PET} › properties › addedField › oneOf: []`,
    (it) => (petOf(it).properties.addedField.oneOf = []),
  ],
  [
    `changed ${RETRY_AFTER} › schema › pattern: "^[0-9]+$" → "^[1-9]"`,
    (it) => (retryAfterOf(it).schema.pattern = '^[1-9]'),
  ],
  [
    `changed ${LIMIT} › schema: {"type":"integer","format":"int32","minimum":1,"maximum":100… → true`,
    (it) => (parameterOf(it, 'limit').schema = true),
  ],
];

const nonBreaking: [line: string, Edit][] = [
  ['added paths › /stores › post: {"responses":{}}', (it) => (it.paths['/stores'].post = { responses: {} })],
  [
    `added ${GET} › parameters › store: {"name":"store","in":"query"}`,
    (it) => getOf(it).parameters.push(store),
  ],
  [`added ${GET} › x-sunset: "${in370Days}"`, (it) => (getOf(it)['x-sunset'] = in370Days)],
  [
    `changed ${POST} › x-sunset: "2030-12-05" → "2031-12-05"`,
    (it) => (postOf(it)['x-sunset'] = '2031-12-05'),
  ],
  [
    `changed ${LIMIT} › schema › maximum: 100 → 200`,
    (it) => (parameterOf(it, 'limit').schema.maximum = 200n),
  ],
  [`removed ${STATUS} › schema › enum: `, (it) => delete parameterOf(it, 'status').schema.enum],
  [
    `added ${NEW_PET} › properties › addedField: {"type":"string"}`,
    (it) => (newPetOf(it).properties.addedField = { type: 'string' }),
  ],
  [`removed ${NEW_PET} › required › "categoryId": `, (it) => remove(newPetOf(it).required, 'categoryId')],
  [`changed ${PET} › properties › id › minimum: 1 → 2`, (it) => (petOf(it).properties.id.minimum = 2n)],
  [
    `changed ${GET} › responses › 200 › ${JSON_SCHEMA} › maxItems: 100 → 200`,
    (it) => (jsonSchemaOf(getOf(it).responses[200]).maxItems = 200n),
  ],
  [
    `added ${GET} › responses › 410: {"description":"Gone."}`,
    (it) => (getOf(it).responses[410] = { description: 'Gone.' }),
  ],
  [`removed ${POST} › responses › 201 › links: `, (it) => delete postOf(it).responses[201].links],
  ['changed info › title: "Pet store" → "Pets"', (it) => (it.info.title = 'Pets')],
  [
    'removed components › securitySchemes › bearerAuth › description: ',
    (it) => delete it.components.securitySchemes.bearerAuth.description,
  ],
];

describe.each<[verdict: string, typeof breaking]>([
  ['breaking', breaking],
  ['cannot classify', unclassified],
  ['non-breaking', nonBreaking],
])('%s:', (verdict, changes) => {
  test.each(changes)('%s', (line, edit) => {
    expectOneLine(differences(base, edited(base, edit)), `${verdict}: ${line}`);
  });
});

test.each([
  [daysFromNow(-2), 'non-breaking'],
  [daysFromNow(2), 'breaking'],
])('removing an operation with the sunset date %s is %s', (day, verdict) => {
  const announced = edited(base, (it) => (postOf(it)['x-sunset'] = day));
  const lines = differences(
    announced,
    edited(announced, (it) => delete it.paths['/pets'].post),
  );
  expectOneLine(lines, `${verdict}: removed ${POST}: `);
});

/** Yields variants of a JSON value. In each variant, the value itself or one nested value is removed or replaced. */
function* variantsOf(value: unknown): Generator {
  yield* [undefined, 'other'];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    for (const variant of variantsOf(part)) {
      yield Array.isArray(value) ? value.with(Number(key), variant) : { ...value, [key]: variant };
    }
  }
}

test('a change of any value in an OpenAPI document with one operation is reported', () => {
  const document = { ...base, paths: { '/pets': { post: base.paths['/pets'].post } } };
  const variants = [...variantsOf(document)];
  expect(variants.length).toBeGreaterThan(1_000);
  expect(variants.filter((variant) => differences(document, variant).length === 0)).toEqual([]);
});

test('a change of one of two parameters with the same name is reported', () => {
  const [before, after] = ['form', 'simple'].map((style) => [{ name: 'id', style }, { name: 'id' }]);
  expect(differences({ parameters: before }, { parameters: after })).toHaveLength(1);
});

test('npm run openapi:diff lists breaking changes first and explains how to continue', async () => {
  const document = edited(source, (it) => remove(it.components.schemas.PetStatus.enum, 'sold'));
  writeFileSync(file, stringifyJson(document));
  const { code, stdout, stderr } = await runModule('infra/documents/changes/main.ts', ['--base', file]);
  const change = 'properties › status › enum › "sold": "sold"';
  const lines = stdout.split('\n');
  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^breaking: added paths › \/pets › get .* › enum › "sold": "sold"$/);
  expect(lines).toContain(`non-breaking: added ${NEW_PET} › ${change}`);
  expect(lines).toContain(`breaking: added ${PET} › ${change}`);
  const found = lines.filter((line) => line.startsWith('breaking: '));
  const summary = `${found.length} of ${lines.length - 1} changes since ${file} break clients `;
  expect(stderr).toMatch(new RegExp(`^${summary}.*"Compatibility".*differences\\.ts\\.\\n$`));
});
