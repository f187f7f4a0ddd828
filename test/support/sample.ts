import * as v from 'valibot';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { operations } from '../../shared/contract/operations.ts';
import { NewPet, type Pet } from '../../shared/contract/schemas.ts';

// Describes the resource that the service stores.

/** Resource in a create request after validation. */
export type NewItem = NewPet;
/** Resource in a response. */
export type Item = Pet;

/** The operations that create, list and fetch the resource. */
export const { createPet: create, listPets: list, getPet: get } = operations;

/** Path of the resource's collection, such as `/v1/pets`. */
export const collection = list.path;

/** Path of the collection relative to the base URL, such as `/pets`. */
export const itemsPath = collection.replace('/v1', '');

/** Required text field of the resource. */
export const textField = 'name';

/** Required field of the resource that can contain any int64. */
export const integerField = 'categoryId';

/** Valid body of a create request with a value for each field. */
export const validBody = { [textField]: 'Rex', [integerField]: 7, status: 'available' } as const;

/** `validBody` as the functions receive it after validation. */
export const validInput: NewItem = v.parse(NewPet, parseJson(stringifyJson(validBody)));

const { status: _status, ...requiredInput } = validInput;
export { requiredInput };

/** Returns a valid body with `text` in the text field. */
export function bodyWith(text: string) {
  return { ...validBody, [textField]: text };
}
