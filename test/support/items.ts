import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { AnyItem } from '../../shared/contract/operation.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { type ApiResponse, nextLink, post, request } from './client.ts';
import { type CollectionTests, type NewItem, variantOf } from './collection-tests.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';

const PAUSE_MILLISECONDS = 50;
/** Maximum number of concurrent create requests. Some AWS accounts allow only 10 concurrent Lambda invocations. */
const CONCURRENT_CREATES = 5;

/** An item in a response. */
export type StoredItem = AnyItem & NewItem;

/**
 * Creates an item with an idempotency key.
 *
 * @param fields fields that replace fields of `newItem` @default - the item is `newItem`
 * @throws Error with the response if the service rejects the item
 */
export async function addItem(collection: CollectionTests, fields: NewItem = {}): Promise<StoredItem> {
  const { path, newItem } = collection;
  const body = variantOf(newItem('a text'), fields);
  const response = await post(path, body, { 'Idempotency-Key': randomUUID() });
  if (response.status !== 201) throw new Error(`The item was rejected: ${response.status} ${response.text}`);
  return response.body as StoredItem;
}

export async function addItems(
  collection: CollectionTests,
  count: number,
  fields?: NewItem,
): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  while (items.length < count) {
    const length = Math.min(CONCURRENT_CREATES, count - items.length);
    items.push(...(await Promise.all(Array.from({ length }, () => addItem(collection, fields)))));
  }
  return items;
}

/** Returns the path and query of a list with the parameters in `query`, relative to the base URL. */
export function listAddress(path: string, query: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  return `${path}?${parameters.toString()}`;
}

/**
 * Follows the links from page to page and returns all items, including other clients' items, down to the id `oldest`.
 *
 * @throws Error if the service rejects a request, or if a page links to an earlier page or an empty page
 */
export async function walk(address: string, oldest: bigint): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  const visited = new Set<string>();
  for (let next: string | undefined = address; next;) {
    if (visited.has(next)) throw new Error(`A page after ${next} links back to this URL.`);
    visited.add(next);
    const page: ApiResponse = await request(next);
    if (page.status !== 200) throw new Error(`The response to ${next} was ${page.status} ${page.text}`);
    if (visited.size > 1 && page.body.length === 0) throw new Error(`A page links to the empty page ${next}`);
    items.push(...(page.body as StoredItem[]));
    if ((items.at(-1)?.id ?? oldest) < oldest) break;
    next = nextLink(page);
  }
  return items.filter(({ id }) => id >= oldest);
}

/**
 * Waits until a list contains all given items, because lists are eventually consistent.
 *
 * @param filter query parameters of the list @default - no filter
 * @returns all items in the list, down to the oldest given item
 * @throws Error if the list still does not contain all given items after the time limit
 */
export async function untilListed(
  { path }: CollectionTests,
  items: StoredItem[],
  filter: Record<string, string> = {},
): Promise<StoredItem[]> {
  const wanted = items.map(({ id }) => id);
  const oldest = wanted.reduce((one, other) => (one < other ? one : other));
  const deadline = Date.now() + WAIT_LIMIT_MILLISECONDS;
  for (;;) {
    const listed = await walk(listAddress(path, { ...filter, limit: PAGE.maximum }), oldest);
    const ids = new Set(listed.map(({ id }) => id));
    if (wanted.every((id) => ids.has(id))) return listed;
    if (Date.now() > deadline) throw new Error(`The list does not contain all of ${wanted.join(', ')}`);
    await setTimeout(PAUSE_MILLISECONDS);
  }
}

/** Adds an item and waits until the list contains it. Returns the items from the newest item to `first`. */
export async function itemsAddedAfter(collection: CollectionTests, first: StoredItem): Promise<StoredItem[]> {
  return untilListed(collection, [first, await addItem(collection)]);
}

/** Like `itemsAddedAfter`, but returns only the items with a field that contains `text`. */
export async function itemsWith(
  text: string,
  collection: CollectionTests,
  first: StoredItem,
): Promise<StoredItem[]> {
  const items = await itemsAddedAfter(collection, first);
  return items.filter((item) => stringifyJson(item).includes(text));
}
