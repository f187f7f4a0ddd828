import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../../infra/operate/command.ts';
import { parseJson } from '../../shared/contract/json.ts';
import type { Pet, PetStatus } from '../../shared/contract/schemas.ts';
import type { LocalService } from '../support/local-service.ts';
import { pageOf, petOf, type Stock } from './growth-pets.ts';
import { type Spread, spreadOf } from './spread.ts';

// What is asked of stores of several sizes, in turn, so that whatever else the machine does meets all of them.

/** A running service with the pets that were put into it, and no others. */
export type Store = Pick<LocalService, 'baseAddress' | 'apiKey'> & { stock: Stock };

export interface Row {
  request: string;
  /** For each store, in milliseconds. */
  times: Spread[];
}

interface Request {
  address: string;
  method?: string;
  body?: string;
  /** Whether this is the right answer. */
  isRight: (status: number, body: unknown) => boolean;
}

/** Makes the requests of a kind to a store, by their number. */
type Kind = (store: Store) => Promise<(number: number) => Request>;

/** The last one adds pets to the lists. */
const kinds: Record<string, Kind> = {
  'list of 20': list(1, 20),
  'list of 20, one status': list(1, 20, 'available'),
  'list of 5': list(1, 5),
  'list of 5, one status': list(1, 5, 'available'),
  'list of 5, page 100': list(100, 5),
  'list of 5, one status, page 100': list(100, 5, 'available'),
  'a pet': async ({ baseAddress, stock: { pets } }) => {
    // From all over the store: a step that has no divisor in common with its size visits every pet.
    const step = 7_919;
    return (number) => {
      const pet = petOf((number * step) % pets, pets);
      return { address: `${baseAddress}/pets/${pet.id}`, isRight: gives(pet) };
    };
  },
  create: async ({ baseAddress }) => {
    return (number) => {
      const pet = { name: `Rex ${number}`, categoryId: 7n, status: 'available' };
      return {
        address: `${baseAddress}/pets`,
        method: 'POST',
        body: `{"name":"Rex ${number}","categoryId":7,"status":"available"}`,
        isRight: (status, body) =>
          status === 201 && isDeepStrictEqual({ ...(body as Pet), id: 0n }, { id: 0n, ...pet }),
      };
    };
  },
};

export const kindsInAll = Object.keys(kinds).length;

function list(page: number, limit: number, status?: PetStatus): Kind {
  return async (store) => {
    const pages = (number: number) => gives(pageOf(store.stock.pets, number, limit, status));
    let address = `${store.baseAddress}/pets?limit=${limit}${status ? `&status=${status}` : ''}`;
    for (let number = 1; number < page; number += 1) {
      const { link } = await ask(store, { address, isRight: pages(number) });
      const next = /<([^>]*)>; rel="next"/.exec(link)?.[1];
      if (!next) throw new UsageError(`${address} should have a next page.`);
      address = next;
    }
    const isRight = pages(page);
    return () => ({ address, isRight });
  };
}

function gives(expected: Pet | Pet[]): Request['isRight'] {
  return (status, body) => status === 200 && isDeepStrictEqual(body, expected);
}

/**
 * Asks all stores for each kind.
 *
 * @param requests how many of a kind to each store are counted. As many come before, to warm the services up.
 * @throws UsageError when an answer is not what has to come of the pets that were put there.
 */
export async function measure(
  stores: Store[],
  requests: number,
  onProgress: (kinds: number) => void = () => {},
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [request, kind] of Object.entries(kinds)) {
    const asked = await Promise.all(
      stores.map(async (store) => ({ store, requestOf: await kind(store), times: [] as number[] })),
    );
    for (let number = -requests; number < requests; number += 1) {
      // The one before a store may matter to it.
      for (const { store, requestOf, times } of number % 2 === 0 ? asked : asked.toReversed()) {
        const { milliseconds } = await ask(store, requestOf(number + requests));
        if (number >= 0) times.push(milliseconds);
      }
    }
    rows.push({ request, times: asked.map(({ times }) => spreadOf(times, 3)) });
    onProgress(rows.length);
  }
  return rows;
}

/** @throws UsageError when the answer is a wrong one. */
async function ask(
  { apiKey }: Store,
  { address, method = 'GET', body, isRight }: Request,
): Promise<{ milliseconds: number; link: string }> {
  const start = performance.now();
  const response = await fetch(address, {
    method,
    headers: {
      Authorization: `Bearer ${apiKey}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const milliseconds = performance.now() - start;
  if (!isRight(response.status, parseJson(text))) {
    throw new UsageError(
      `${method} ${address} was answered ${response.status} ${text}, which does not fit the pets that are there.`,
    );
  }
  return { milliseconds, link: response.headers.get('Link') ?? '' };
}
