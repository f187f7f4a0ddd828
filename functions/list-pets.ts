import { endpoint, type Implementation, prime } from '../shared/runtime/endpoint.ts';
import { nextPage } from '../shared/contract/lists.ts';
import { operations } from '../shared/contract/operations.ts';
import { list } from '../shared/storage/lists.ts';
import { pets } from '../shared/storage/pets.ts';

const listPets: Implementation<typeof operations.listPets> = async ({ query, rootUrl }) => {
  const { items, next } = await list(pets, query);
  if (next === undefined) return { body: items };
  return { body: items, headers: { Link: `<${rootUrl}${nextPage(pets.list, query, next)}>; rel="next"` } };
};

export const handler = endpoint(operations.listPets, listPets);

await prime(operations.listPets, {}, listPets);
