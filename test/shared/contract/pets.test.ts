import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { listQuery } from '../../../shared/contract/lists.ts';
import { NewPet, pets } from '../../../shared/contract/pets.ts';

test('a name needs a character that is not white space or a control character, and must not contain U+FFFD', () => {
  const valid = ['Rex', ' Rex\n', '\u{1f415}', '0', '\u180e'];
  const names = [...valid, '', ' ', '\n\t', '\u3000', '\0', '\u001f', '\ufffd', 'Caf\ufffd'];
  expect(names.filter((name) => v.is(NewPet.entries.name, name))).toEqual(valid);
});

// Clients can still have cursors of earlier versions. The first of these is from the list without filters, and the second
// from the list of sold pets.
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
