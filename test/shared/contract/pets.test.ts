import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { listQuery } from '../../../shared/contract/lists.ts';
import { NewPet, pets } from '../../../shared/contract/pets.ts';

test('the schema and the published pattern reject a name that is empty or consists only of white space', () => {
  const contract = JSON.parse(readFileSync('openapi.json', 'utf8'));
  const pattern = new RegExp(contract.components.schemas.NewPet.properties.name.pattern);
  const valid = ['Rex', ' Rex\n', '\u{1f415}', '0'];
  const names = [...valid, '', ' ', '\n\t', '\u3000'];
  expect(names.filter((name) => v.is(NewPet.entries.name, name))).toEqual(valid);
  expect(names.filter((name) => pattern.test(name))).toEqual(valid);
});

// Clients can have these cursors. The first is from the list without filters, and the second from the list of sold pets.
test.each([
  ['Mi40MgkSq06d', {}],
  ['Mi40Mg_aSLso', { status: 'sold' }],
])('the list of pets accepts the cursor %s of earlier versions', (cursor, filters) => {
  expect(v.parse(listQuery(pets), { ...filters, cursor })).toEqual({ limit: 20, filters, cursor: 42n });
});

test('the list of pets can be filtered by exactly the three statuses', () => {
  const valid = ['available', 'pending', 'sold'];
  const texts = [...valid, 'Sold', 'sold,pending', 'lost', ''];
  expect(texts.filter((status) => v.is(listQuery(pets), { status }))).toEqual(valid);
});
