import { describe, expect, test } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { differences } from '../../../../infra/documents/changes/differences.ts';
import { readDocument, withoutReferences } from '../../../../infra/documents/changes/document.ts';
import { withChanges } from './json-changes.ts';
import { readOpenApi } from '../../../support/openapi-document.ts';

const base = readDocument('openapi.json');
const JSON_SCHEMA = 'content › application/json › schema';
const NEW_PET = `POST /pets › requestBody › ${JSON_SCHEMA}`;
const PET = `POST /pets › responses › 201 › ${JSON_SCHEMA}`;

function withoutValues(line: string): string {
  return line.split(': ').slice(0, 2).join(': ');
}

test.each([
  ['removed paths › /pets', ['breaking: removed GET /pets', 'breaking: removed POST /pets']],
  ['added paths › /stores: {"get":{}}', ['non-breaking: added GET /stores']],
  ['removed POST /pets › parameters', ['breaking: removed POST /pets › parameters › Idempotency-Key']],
  [
    'removed GET /pets › responses › 200 › content',
    ['breaking: removed GET /pets › responses › 200 › content › application/json'],
  ],
  ['changed GET /pets › parameters › status › schema › enum: … → ["pending","sold","available"]', []],
  [
    'changed POST /pets › parameters: … → [{"name":"a","in":"query"},{"name":"a","in":"path"}]',
    ['cannot classify: changed POST /pets › parameters'],
  ],
])('%s is reported as %j', (change, lines) => {
  expect(differences(base, withChanges(base, change)).map(withoutValues)).toEqual(lines);
});

describe('a change of a component', () => {
  const source = readOpenApi();

  test('is reported for each request and response with a reference to the component', () => {
    const changed = withChanges(source, 'removed components › schemas › PetStatus › enum › "sold"');
    const lines = differences(withoutReferences(source), withoutReferences(changed));
    expect(lines).toEqual(
      expect.arrayContaining([
        `breaking: removed ${NEW_PET} › properties › status › enum › "sold"`,
        `non-breaking: removed ${PET} › properties › status › enum › "sold"`,
      ]),
    );
  });

  test('is not reported if it only renames the component', () => {
    const renamed = JSON.parse(JSON.stringify(source).replaceAll('RetryAfter', 'Delay'));
    expect(renamed).not.toEqual(source);
    expect(differences(withoutReferences(source), withoutReferences(renamed))).toEqual([]);
  });
});

test('withoutReferences prefers members next to a reference over members of the target', () => {
  const schemas = { 'a/b': { type: 'string', title: 'target' }, none: false };
  const references = [{ $ref: '#/x-schemas/a~1b', title: 'own' }, { $ref: '#/x-schemas/none' }];
  const resolved = withoutReferences({ 'x-schemas': schemas, references });
  expect(resolved).toMatchObject({ references: [{ type: 'string', title: 'own' }, false] });
});

/** Yields variants of a JSON value that each differ from the value in one part. */
function* variantsOf(value: any): Generator {
  yield* ['other', null, {}].filter((other) => !isDeepStrictEqual(other, value));
  if (Array.isArray(value)) {
    yield [...value, 'new'];
    for (const [index, item] of value.entries()) {
      yield value.toSpliced(index, 1);
      for (const variant of variantsOf(item)) yield value.with(index, variant);
    }
  } else if (typeof value === 'object') {
    yield { ...value, 'x-new': 'new' };
    for (const [name, member] of Object.entries(value)) {
      yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
      for (const variant of variantsOf(member)) yield { ...value, [name]: variant };
    }
  }
}

test('differences reports a change in any part', () => {
  const others = ['GET /pets', 'paths › /pets/{petId}', 'x-other-requests'];
  const document = withChanges(base, ...others.map((other) => `removed ${other}`));
  const variants = [...variantsOf(document)];
  expect(variants.length).toBeGreaterThan(3_000);
  expect(variants.filter((variant) => differences(document, variant).length === 0)).toEqual([]);
});
