import { endpoint, type Implementation, prime } from '../shared/runtime/endpoint.ts';
import { nextPage } from '../shared/contract/lists.ts';
import { pets } from '../shared/contract/pets.ts';
import { readPage } from '../shared/storage/page.ts';

const listPets: Implementation<typeof pets.operations.list> = async ({ query, rootUrl, signal }) => {
  const { items, next } = await readPage(pets, query, signal);
  if (next === undefined) return { body: items };
  return { body: items, headers: { Link: `<${rootUrl}${nextPage(pets, query, next)}>; rel="next"` } };
};

export const handler = endpoint(pets.operations.list, listPets);

await prime(pets.operations.list, {}, listPets);
