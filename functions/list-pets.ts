import { encodeCursor } from '../shared/contract/cursor.ts';
import { endpoint } from '../shared/runtime/endpoint.ts';
import { operations } from '../shared/contract/operations.ts';
import { listPets } from '../shared/storage/pet-lists.ts';
import { rehearse } from '../shared/runtime/rehearsal.ts';

export const handler = endpoint(operations.listPets, async ({ query, rootAddress }) => {
  const { pets, next } = await listPets(query);
  if (next === undefined) return { body: pets };

  const nextQuery = new URLSearchParams({
    limit: query.limit.toString(),
    ...(query.status && { status: query.status }),
    cursor: encodeCursor(next, query.status),
  });
  return {
    body: pets,
    headers: { Link: `<${rootAddress}${operations.listPets.path}?${nextQuery.toString()}>; rel="next"` },
  };
});

const sample = { multiValueQueryStringParameters: { limit: ['20'] } };
await rehearse(operations.listPets, sample, async ({ query }) => (await listPets(query)).pets);
