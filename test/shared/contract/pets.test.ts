import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { INT64, MAX_NAME_CHARACTERS } from '../../../shared/contract/limits.ts';
import { NewPet, PetStatus } from '../../../shared/contract/pets.ts';
import { petWithoutStatus } from '../../support/sample.ts';

const DOG = '\u{1f415}';

function validationErrors(schema: v.GenericSchema, input: unknown): [string | undefined, string][] {
  const { issues = [] } = v.safeParse(schema, input, { abortPipeEarly: true });
  return issues.map((issue) => [v.getDotPath(issue) ?? undefined, issue.message]);
}

describe('NewPet', () => {
  test.each<[string, unknown]>([
    ['name', 'R'],
    ['name', DOG.repeat(MAX_NAME_CHARACTERS)],
    ['name', ' \t R\n\0'],
    ['categoryId', INT64.minimum],
    ['categoryId', INT64.maximum],
  ])('accepts the %s %j', (field, value) => {
    expect(v.parse(NewPet, { ...petWithoutStatus, [field]: value })).toEqual({
      ...petWithoutStatus,
      [field]: value,
    });
  });

  const textMessage = `must be a string of 1 to ${MAX_NAME_CHARACTERS} well-formed Unicode characters, not all of them white space`;
  const categoryId = 'must be an integer from -9223372036854775808 to 9223372036854775807';
  const status = `must be one of ${PetStatus.options.join(', ')}`;
  const tooLong = DOG.repeat(MAX_NAME_CHARACTERS + 1);

  test.each<[string, string, unknown[]]>([
    ['name', textMessage, ['', tooLong, ' \t\n\u00a0\u2003\u0085\ufeff', 'Rex \ud83d', 5n]],
    ['categoryId', categoryId, [INT64.minimum - 1n, INT64.maximum + 1n, 5, 5.5, '5', null]],
    ['status', status, ['Sold', '', null, ['sold']]],
  ])('rejects an invalid %s with the message "%s"', (field, message, values) => {
    const errors = values.map((value) => validationErrors(NewPet, { ...petWithoutStatus, [field]: value }));
    expect(errors).toEqual(values.map(() => [[field, message]]));
  });
});

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
