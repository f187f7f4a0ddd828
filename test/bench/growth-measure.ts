import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../../infra/command.ts';
import { parseJson } from '../../shared/contract/json.ts';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import type { LocalService } from '../support/local-service.ts';
import { pageOf, petOf, type Contents } from './growth-pets.ts';
import type { Comparison } from './growth-report.ts';
import { spreadOf } from './spread.ts';

/** A running service that contains exactly the pets in `contents`. */
export type Store = Pick<LocalService, 'baseUrl' | 'apiKey'> & { contents: Contents };

interface Request {
  address: string;
  /** Expected body of the response to a GET. */
  expected?: Pet | Pet[];
  /** Body of a POST. The expected response is this body with an id. */
  body?: string;
}

/** Prepares requests of one kind to a store and returns a function that creates the request with a given number. */
type Kind = (store: Store) => Promise<(number: number) => Request>;

/** Kinds of requests by row name. Creates are last because they add pets to the lists. */
const kinds: Record<string, Kind> = {
  'list of 20': list(1, 20),
  'list of 20, one status': list(1, 20, 'available'),
  'list of 5': list(1, 5),
  'list of 5, one status': list(1, 5, 'available'),
  'list of 5, page 100': list(100, 5),
  'list of 5, one status, page 100': list(100, 5, 'available'),
  get:
    async ({ baseUrl, contents: { pets } }) =>
    (number) => {
      // Multiplying by a prime number spreads the requests over all pets in the store.
      const expected = petOf((number * 7_919) % pets, pets);
      return { address: `${baseUrl}/pets/${expected.id}`, expected };
    },
  create:
    async ({ baseUrl }) =>
    (number) => ({
      address: `${baseUrl}/pets`,
      body: `{"name":"Rex ${number}","categoryId":7,"status":"available"}`,
    }),
};

/** Returns the kind of request for page `page` of a list. Reads all earlier pages first to get the link. */
function list(page: number, limit: number, status?: PetStatus): Kind {
  return async (store) => {
    const pageAt = (number: number) => pageOf(store.contents.pets, number, limit, status);
    let address = `${store.baseUrl}/pets?limit=${limit}${status ? `&status=${status}` : ''}`;
    for (let number = 1; number < page; number += 1) {
      const { link } = await send(store, { address, expected: pageAt(number) });
      const next = /<([^>]*)>; rel="next"/.exec(link)?.[1];
      if (!next) throw new UsageError(`The response of ${address} has no link to a next page.`);
      address = next;
    }
    const request = { address, expected: pageAt(page) };
    return () => request;
  };
}

/**
 * Sends requests of each kind to all stores in turn, so that other load on the machine affects all stores equally.
 *
 * @param requests number of measured requests per kind and store. The same number of warm-up requests precede them.
 * @throws UsageError if a response does not match the store's contents
 */
export async function measure(
  stores: Store[],
  requests: number,
  onKind = (_request: string) => {},
): Promise<Comparison['rows']> {
  const rows: Comparison['rows'] = [];
  for (const [request, kind] of Object.entries(kinds)) {
    onKind(request);
    const measured = await Promise.all(
      stores.map(async (store) => ({ store, requestOf: await kind(store), times: [] as number[] })),
    );
    for (let number = -requests; number < requests; number += 1) {
      // The order alternates because a request to one store can slow down the next request.
      for (const { store, requestOf, times } of number % 2 === 0 ? measured : measured.toReversed()) {
        const { milliseconds } = await send(store, requestOf(number + requests));
        if (number >= 0) times.push(milliseconds);
      }
    }
    rows.push({ request, times: measured.map(({ times }) => spreadOf(times, 3)) });
  }
  return rows;
}

async function send({ apiKey }: Store, { address, expected, body }: Request) {
  const method = body ? 'POST' : 'GET';
  const headers = { Authorization: `Bearer ${apiKey}`, ...(body && { 'Content-Type': 'application/json' }) };
  const start = performance.now();
  const response = await fetch(address, { method, headers, ...(body && { body }) });
  const text = await response.text();
  const milliseconds = performance.now() - start;
  const received = parseJson(text) as Pet;
  const expectedBody = body ? { ...(parseJson(body) as object), id: received.id } : expected;
  if (response.status !== (body ? 201 : 200) || !isDeepStrictEqual(received, expectedBody)) {
    throw new UsageError(
      `${method} ${address} returned ${response.status} ${text}, which does not match the pets in the store.`,
    );
  }
  return { milliseconds, link: response.headers.get('Link') ?? '' };
}
