import { UsageError } from '../../infra/command.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import type { PetStatus } from '../../shared/contract/schemas.ts';
import type { LocalService } from '../support/local-service.ts';
import { pageOf, petOf, type Contents } from './growth-pets.ts';
import { measureInRounds, type Spread, spreadOf } from './measurements.ts';

/** A running service that contains exactly the pets in `contents`. */
export type Store = LocalService & { contents: Contents };

/** One row for each kind of request. `times` contains the milliseconds for each store. */
export type Rows = { request: string; times: Spread[] }[];

interface Request {
  path: string;
  /** Body of a POST. */
  body?: string;
  /** Expected body of the response, without the id of a new pet. */
  expected: string;
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
  async get({ contents: { pets } }) {
    return (number) => {
      // Multiplying by a prime number spreads the requests over all pets in the store.
      const pet = petOf((number * 7_919) % pets, pets);
      return { path: `/pets/${pet.id}`, expected: stringifyJson(pet) };
    };
  },
  async create() {
    return (number) => {
      const body = `{"name":"Rex ${number}","categoryId":7,"status":"available"}`;
      return { path: '/pets', body, expected: body };
    };
  },
};

/** Returns the kind of request for page `page` of a list. Reads all earlier pages first to get the link. */
function list(page: number, limit: number, status?: PetStatus): Kind {
  return async (store) => {
    let path = `/pets?limit=${limit}${status ? `&status=${status}` : ''}`;
    for (let number = 1; ; number += 1) {
      const request = { path, expected: stringifyJson(pageOf(store.contents.pets, number, limit, status)) };
      if (number === page) return () => request;
      const { link } = await send(store, request);
      path = /\/pets\?[^>]*(?=>; rel="next")/.exec(link)![0];
    }
  };
}

/**
 * Sends requests of each kind to all stores.
 *
 * @param requests number of measured requests per kind and store. The same number of warm-up requests precede them.
 * @throws UsageError if a response does not match the store's contents
 */
export async function measure(stores: Store[], requests: number, onKind = (_request: string) => {}) {
  const rows: Rows = [];
  for (const [request, kind] of Object.entries(kinds)) {
    onKind(request);
    const subjects = await Promise.all(
      stores.map(async (store) => ({ store, requestOf: await kind(store) })),
    );
    const times = await measureInRounds(subjects, 2 * requests, async ({ store, requestOf }, round) => {
      const { milliseconds } = await send(store, requestOf(round));
      return milliseconds;
    });
    rows.push({ request, times: times.map((each) => spreadOf(each.slice(requests))) });
  }
  return rows;
}

async function send({ baseUrl, request }: Store, { path, body, expected }: Request) {
  const start = performance.now();
  const response = await request(path, body ? { method: 'POST', body } : {});
  const text = await response.text();
  const milliseconds = performance.now() - start;
  const withoutId = body ? text.replace(/"id":\d+,/, '') : text;
  if (response.status === (body ? 201 : 200) && withoutId === expected)
    return { milliseconds, link: response.headers.get('Link') ?? '' };
  throw new UsageError(
    `${body ? 'POST' : 'GET'} ${baseUrl}${path} returned ${response.status} ${text}, which does not match the pets in the store.`,
  );
}
