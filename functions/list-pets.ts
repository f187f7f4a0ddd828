import { encodeCursor } from '../shared/contract/cursor.ts';
import { type ValidRequest, endpoint, type Success } from '../shared/runtime/endpoint.ts';
import { operations } from '../shared/contract/operations.ts';
import { listPets } from '../shared/storage/pet-lists.ts';
import { prime } from '../shared/runtime/priming.ts';

type ListPets = typeof operations.listPets;

async function list({ query, rootUrl }: ValidRequest<ListPets>): Promise<Success<ListPets>> {
  const { pets, next } = await listPets(query);
  if (next === undefined) return { body: pets };

  const nextQuery = new URLSearchParams({
    limit: query.limit.toString(),
    ...(query.status && { status: query.status }),
    cursor: encodeCursor(next, query.status),
  });
  return {
    body: pets,
    headers: { Link: `<${rootUrl}${operations.listPets.path}?${nextQuery.toString()}>; rel="next"` },
  };
}

export const handler = endpoint(operations.listPets, list);

await prime(operations.listPets, { multiValueQueryStringParameters: { limit: ['20'] } }, list);
