import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { differences } from '../../../infra/documents/changes/differences.ts';
import { withoutReferences } from '../../../infra/documents/openapi/references.ts';
import { PAGE } from '../../../shared/contract/limits.ts';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';
import { runModule } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const file = join(temporaryFolder(), 'base.json');
const source = parseJson(readFileSync('openapi.json', 'utf8')) as any;
const GET = 'paths › /pets › get';
const POST = 'paths › /pets › post';
const JSON_SCHEMA = 'content › application/json › schema';
const NEW_PET = `${POST} › requestBody › ${JSON_SCHEMA}`;
const PET = `${POST} › responses › 201 › ${JSON_SCHEMA}`;
const base = [
  `added ${POST} › x-sunset: "2030-12-05"`,
  `added ${PET} › properties › addedField: {"type":"string"}`,
].reduce(withChange, withoutReferences(source));
const LIMIT = `${GET} › parameters › limit`;
const STATUS = `${GET} › parameters › status`;
const RETRY_AFTER = `${GET} › responses › 503 › headers › Retry-After`;

/** Returns a copy of an OpenAPI document with one change, such as `removed paths › /pets › get › x-sunset`. */
function withChange(document: any, change: string): any {
  const [, action, path = '', value] = /^(\w+) (.+?)(?:: (?:.+ → )?(.+))?$/.exec(change)!;
  const copy = parseJson(stringifyJson(document));
  const keys = path.split(' › ');
  const last = keys.pop()!;
  const parent = keys.reduce<any>((part, key) => part[keyOf(part, key)], copy);
  const key = keyOf(parent, last);
  if (action !== 'removed') parent[key] = parseJson(value ?? last);
  else if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return copy;
}

/**
 * Returns `name` if `part` is an object. If `part` is a list, returns the index of the item whose name or JSON text is
 * `name`, or the length of the list if there is no such item.
 */
function keyOf(part: any, name: string): string {
  if (!Array.isArray(part)) return name;
  const index = part.findIndex((item) => item.name === name || stringifyJson(item) === name);
  return String(index < 0 ? part.length : index);
}

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

const changesByVerdict = {
  breaking: [
    'removed paths › /pets/{petId} › get',
    `removed ${STATUS}`,
    `changed ${STATUS} › required: false → true`,
    `added ${GET} › parameters › store: {"name":"store","in":"query","required":true}`,
    `changed ${POST} › x-sunset: "2030-12-05" → "2029-12-05"`,
    `added ${GET} › x-sunset: "${daysFromNow(360)}"`,
    `changed ${LIMIT} › schema › default: ${PAGE.default} → 10`,
    `removed ${POST} › requestBody › content › application/json`,
    `added ${STATUS} › schema › maxLength: 10`,
    `removed ${STATUS} › schema › enum › "sold"`,
    `removed ${NEW_PET} › properties › status`,
    `added ${NEW_PET} › required › "status"`,
    `changed ${NEW_PET} › properties › categoryId › maximum: 9223372036854775807 → 9223372036854775806`,
    `removed ${PET} › required › "categoryId"`,
    `added ${PET} › properties › status › enum › "nonsense"`,
    `removed ${GET} › responses › 200 › headers › Link`,
    `removed ${RETRY_AFTER} › required: true`,
    'removed x-other-requests › responses › 405',
    'removed security › {"bearerAuth":[]}',
    'changed components › securitySchemes › bearerAuth › scheme: "bearer" → "basic"',
  ],
  'cannot classify': [
    'added x-quota: 1',
    'added paths › /pets › parameters: []',
    `changed ${STATUS} › in: "query" → "header"`,
    `added ${PET} › properties › addedField › oneOf: []`,
    `changed ${RETRY_AFTER} › schema › pattern: "^[0-9]+$" → "^[1-9]"`,
    `changed ${LIMIT} › schema: {"type":"integer","format":"int32","minimum":1,"maximum":100… → true`,
  ],
  'non-breaking': [
    'added paths › /stores › post: {"responses":{}}',
    `added ${GET} › parameters › store: {"name":"store","in":"query"}`,
    `added ${GET} › x-sunset: "${daysFromNow(370)}"`,
    `changed ${POST} › x-sunset: "2030-12-05" → "2031-12-05"`,
    `changed ${LIMIT} › schema › maximum: 100 → 200`,
    `removed ${STATUS} › schema › enum`,
    `added ${NEW_PET} › properties › addedField: {"type":"string"}`,
    `removed ${NEW_PET} › required › "categoryId"`,
    `changed ${PET} › properties › id › minimum: 1 → 2`,
    `changed ${GET} › responses › 200 › ${JSON_SCHEMA} › maxItems: 100 → 200`,
    `added ${GET} › responses › 410: {"description":"Gone."}`,
    `removed ${POST} › responses › 201 › links`,
    'changed info › title: "Pet store" → "Pets"',
    'removed components › securitySchemes › bearerAuth › description',
  ],
};

describe.each(Object.entries(changesByVerdict))('%s:', (verdict, changes) => {
  test.each(changes)('%s', (change) => {
    const document = change.includes('/stores') ? withChange(base, 'added paths › /stores: {}') : base;
    const lines = differences(document, withChange(document, change));
    expect(lines).toEqual([expect.stringContaining(`${verdict}: ${change}`)]);
  });
});

test.each([
  [daysFromNow(-2), 'non-breaking'],
  [daysFromNow(2), 'breaking'],
])('removing an operation with the sunset date %s is %s', (day, verdict) => {
  const announced = withChange(base, `changed ${POST} › x-sunset: "2030-12-05" → "${day}"`);
  const lines = differences(announced, withChange(announced, `removed ${POST}`));
  expect(lines).toEqual([expect.stringContaining(`${verdict}: removed ${POST}: `)]);
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
  const document = withChange(source, 'removed components › schemas › PetStatus › enum › "sold"');
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
