import { endpoint, type Implementation, prime } from '../shared/runtime/endpoint.ts';
import { nextPage } from '../shared/contract/lists.ts';
import { operations } from '../shared/contract/operations.ts';
import { petList } from '../shared/contract/pets.ts';
import { listPets } from '../shared/storage/pet-lists.ts';

const list: Implementation<typeof operations.listPets> = async ({ query, rootUrl }) => {
  const { pets, next } = await listPets(query);
  if (next === undefined) return { body: pets };
  return { body: pets, headers: { Link: `<${rootUrl}${nextPage(petList, query, next)}>; rel="next"` } };
};

export const handler = endpoint(operations.listPets, list);

await prime(operations.listPets, {}, list);
