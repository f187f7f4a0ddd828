import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { NewPet } from '../../../shared/contract/pets.ts';

test('the published pattern rejects only white space as a name, and the schema also rejects lone surrogates', () => {
  const contract = JSON.parse(readFileSync('openapi.json', 'utf8'));
  const { pattern } = contract.components.schemas.NewPet.properties.name;
  const patterns = [new RegExp(pattern), new RegExp(pattern, 'u')];
  const characters = Array.from({ length: 0x11_0000 }, (_, codePoint) => String.fromCodePoint(codePoint));
  const misjudged = characters.filter((character) => {
    const isName = !/^[\p{White_Space}\ufeff]$/u.test(character);
    const isAccepted = v.is(NewPet.entries.name, character);
    return (
      isAccepted !== (isName && character.isWellFormed()) ||
      patterns.some((published) => published.test(character) !== isName)
    );
  });
  expect(misjudged).toEqual([]);
});
