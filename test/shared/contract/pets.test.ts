import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { listQuery } from '../../../shared/contract/lists.ts';
import { NewPet, pets } from '../../../shared/contract/pets.ts';

test('a name needs a character that is not white space or a control character, and must not contain U+FFFD', () => {
  const valid = ['Rex', ' Rex\n', '\u{1f415}', '0', '\u180e'];
  const names = [...valid, '', ' ', '\n\t', '\u3000', '\0', '\u001f', '\ufffd', 'Caf\ufffd'];
  expect(names.filter((name) => v.is(NewPet.entries.name, name))).toEqual(valid);
});

test('the list of pets can be filtered by exactly the three statuses', () => {
  const valid = ['available', 'pending', 'sold'];
  const texts = [...valid, 'Sold', 'sold,pending', 'lost', ''];
  expect(texts.filter((status) => v.is(listQuery(pets), { status }))).toEqual(valid);
});
