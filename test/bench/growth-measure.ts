import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../../infra/operate/command.ts';
import { parseJson } from '../../shared/contract/json.ts';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import type { LocalService } from '../support/local-service.ts';
import { pageOf, petOf, type Stock } from './growth-pets.ts';
import type { Comparison } from './growth-report.ts';
import { spreadOf } from './spread.ts';

/** A running service with the pets that it was filled with, and no others. */
export type Store = Pick<LocalService, 'baseUrl' | 'apiKey'> & { stock: Stock };

interface Request {
  address: string;
  /** The response to a GET. */
  expected?: Pet | Pet[];
  /** Of a POST, whose response adds an id. */
  body?: string;
}

/** Returns a store's requests of a kind, by their number. */
type Kind = (store: Store) => Promise<(number: number) => Request>;

/** The last one adds pets to the lists. */
const kinds: Record<string, Kind> = {
  'list of 20': list(1, 20),
  'list of 20, one status': list(1, 20, 'available'),
  'list of 5': list(1, 5),
  'list of 5, one status': list(1, 5, 'available'),
  'list of 5, page 100': list(100, 5),
  'list of 5, one status, page 100': list(100, 5, 'available'),
  'a pet': async ({ baseUrl, stock: { pets } }) => {
    return (number) => {
      // The step has no divisor in common with the size of a store, so it reaches every pet.
      const expected = petOf((number * 7_919) % pets, pets);
      return { address: `${baseUrl}/pets/${expected.id}`, expected };
    };
  },
  create: async ({ baseUrl }) => {
    return (number) => ({
      address: `${baseUrl}/pets`,
      body: `{"name":"Rex ${number}","categoryId":7,"status":"available"}`,
    });
  },
};

/** A page of a list, reached by following links. */
function list(page: number, limit: number, status?: PetStatus): Kind {
  return async (store) => {
    const pageAt = (number: number) => pageOf(store.stock.pets, number, limit, status);
    let address = `${store.baseUrl}/pets?limit=${limit}${status ? `&status=${status}` : ''}`;
    for (let number = 1; number < page; number += 1) {
      const { link } = await send(store, { address, expected: pageAt(number) });
      const next = /<([^>]*)>; rel="next"/.exec(link)?.[1];
      if (!next) throw new UsageError(`${address} should have a next page.`);
      address = next;
    }
    const request = { address, expected: pageAt(page) };
    return () => request;
  };
}

/**
 * Sends requests of each kind to all stores in turn, so that whatever else the machine does affects all alike.
 *
 * @param requests of a kind to each store that are counted, after as many that warm the services up
 * @throws UsageError if a response does not fit the pets that the store was filled with
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
      // The store before may affect the next.
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
  const wanted = body ? { ...(parseJson(body) as object), id: received.id } : expected;
  if (response.status !== (body ? 201 : 200) || !isDeepStrictEqual(received, wanted)) {
    throw new UsageError(
      `${method} ${address} was answered ${response.status} ${text}, which does not fit the pets that are there.`,
    );
  }
  return { milliseconds, link: response.headers.get('Link') ?? '' };
}
