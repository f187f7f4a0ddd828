import { encodeCursor } from '../shared/contract/cursor.ts';
import { endpoint, type Implementation, prime } from '../shared/runtime/endpoint.ts';
import { operations } from '../shared/contract/operations.ts';
import { listPets } from '../shared/storage/pet-lists.ts';

const list: Implementation<typeof operations.listPets> = async ({ query, rootUrl }) => {
  const { pets, next } = await listPets(query);
  if (next === undefined) return { body: pets };

  const nextQuery = new URLSearchParams({ limit: `${query.limit}` });
  for (const [name, value] of Object.entries<unknown>(query.filters)) nextQuery.set(name, String(value));
  nextQuery.set('cursor', encodeCursor(next, query.filters));
  return {
    body: pets,
    headers: { Link: `<${rootUrl}${operations.listPets.path}?${nextQuery.toString()}>; rel="next"` },
  };
};

export const handler = endpoint(operations.listPets, list);

await prime(operations.listPets, {}, list);
