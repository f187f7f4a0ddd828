import { UsageError } from '../../infra/command.ts';
import { encodeCursor } from '../../shared/contract/cursor.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import type { LocalService } from '../support/local-service.ts';
import { bodyWith, type Item, itemsPath, validInput } from '../support/sample.ts';
import { type Contents, itemOf, newestItems } from './growth-items.ts';
import { measureInRounds, type Spread, spreadOf } from './measurements.ts';

/** A running service that contains exactly the items in `contents`. */
export type Store = LocalService & { contents: Contents };

/** One row for each kind of request. `times` contains the milliseconds for each store. */
export type Rows = { request: string; times: Spread[] }[];

interface Request {
  path: string;
  /** Body of a POST. */
  body?: string;
  /** Expected body of the response, without the id of a new item. */
  expected: string;
}

/** Prepares requests of one kind to a store and returns a function that creates the request with a given number. */
type Kind = (items: number) => (number: number) => Request;

const { status: oneStatus } = validInput;

/** Kinds of requests by row name. Creates are last because they add items to the lists. */
const kinds: Record<string, Kind> = {
  [`list of ${PAGE.default}`]: list(1, PAGE.default),
  [`list of ${PAGE.default}, one status`]: list(1, PAGE.default, oneStatus),
  'list of 5': list(1, 5),
  'list of 5, one status': list(1, 5, oneStatus),
  'list of 5, page 100': list(100, 5),
  'list of 5, one status, page 100': list(100, 5, oneStatus),
  get: (items) => (number) => {
    // Multiplying by a prime number spreads the requests over all items in the store.
    const item = itemOf((number * 7_919) % items, items);
    return { path: `${itemsPath}/${item.id}`, expected: stringifyJson(item) };
  },
  create: () => (number) => {
    const body = stringifyJson(bodyWith(`Item ${number}`));
    return { path: itemsPath, body, expected: body };
  },
};

/** Returns the kind of request for page `page` of a list. The first page is page 1. */
function list(page: number, limit: number, status?: Item['status']): Kind {
  return (items) => {
    const newest = newestItems(items, page * limit, status);
    const filters = status ? { status } : {};
    const query = new URLSearchParams({ limit: `${limit}`, ...filters });
    const previous = newest.at(-limit - 1);
    if (previous) query.set('cursor', encodeCursor(previous.id, filters));
    const request = {
      path: `${itemsPath}?${query.toString()}`,
      expected: stringifyJson(newest.slice(-limit)),
    };
    return () => request;
  };
}

/**
 * Sends requests of each kind to all stores.
 *
 * @param requests number of measured requests per kind and store. The same number of warm-up requests precede them.
 * @throws UsageError if a response does not match the store's contents
 */
export async function measure(stores: Store[], requests: number): Promise<Rows> {
  const rows: Rows = [];
  for (const [request, kind] of Object.entries(kinds)) {
    const subjects = stores.map((store) => ({ store, requestOf: kind(store.contents.items) }));
    const times = await measureInRounds(request, subjects, 2 * requests, ({ store, requestOf }, round) =>
      send(store, requestOf(round)),
    );
    rows.push({ request, times: times.map((each) => spreadOf(each.slice(requests))) });
  }
  return rows;
}

/** Sends a request and returns the milliseconds until the end of the response. */
async function send({ baseUrl, request }: Store, { path, body, expected }: Request): Promise<number> {
  const start = performance.now();
  const response = await request(path, body ? { method: 'POST', body } : {});
  const text = await response.text();
  const milliseconds = performance.now() - start;
  const withoutId = body ? text.replace(/"id":\d+,/, '') : text;
  if (response.status === (body ? 201 : 200) && withoutId === expected) return milliseconds;
  throw new UsageError(
    `${body ? 'POST' : 'GET'} ${baseUrl}${path} returned ${response.status} ${text}, which does not match the items in the store.`,
  );
}
