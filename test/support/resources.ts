import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { PAGE } from '../../shared/contract/limits.ts';
import { type ApiResponse, nextLink, post, request } from './client.ts';
import { WAIT_LIMIT_MILLISECONDS } from './limits.ts';
import { type Item, itemsPath, textField, validBody } from './sample.ts';

const PAUSE_MILLISECONDS = 50;
/** Maximum number of concurrent create requests. Some AWS accounts allow only 10 concurrent Lambda invocations. */
const CONCURRENT_CREATES = 5;

/** Creates an item with an idempotency key. @throws Error with the response if the service rejects the item */
export async function addItem(body: object = validBody): Promise<Item> {
  const response = await post(body, { 'Idempotency-Key': randomUUID() });
  if (response.status !== 201) throw new Error(`The item was rejected: ${response.status} ${response.text}`);
  return response.body as Item;
}

export async function addItems(count: number, body?: object): Promise<Item[]> {
  const items: Item[] = [];
  while (items.length < count) {
    const length = Math.min(CONCURRENT_CREATES, count - items.length);
    items.push(...(await Promise.all(Array.from({ length }, () => addItem(body)))));
  }
  return items;
}

/** Returns the path and query of a list with the parameters in `query`, relative to the base URL. */
export function listAddress(query: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  return `${itemsPath}?${parameters.toString()}`;
}

/**
 * Follows the links from page to page and returns all items, including other clients' items, down to the id `oldest`.
 *
 * @throws Error if the service rejects a request, or if a page links to an earlier page or an empty page
 */
export async function walk(address: string, oldest: bigint): Promise<Item[]> {
  const items: Item[] = [];
  const visited = new Set<string>();
  for (let next: string | undefined = address; next;) {
    if (visited.has(next)) throw new Error(`A page after ${next} links back to this URL.`);
    visited.add(next);
    const page: ApiResponse = await request(next);
    if (page.status !== 200) throw new Error(`The response to ${next} was ${page.status} ${page.text}`);
    if (visited.size > 1 && page.body.length === 0) throw new Error(`A page links to the empty page ${next}`);
    items.push(...(page.body as Item[]));
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
export async function untilListed(items: Item[], filter: object = {}): Promise<Item[]> {
  const wanted = items.map(({ id }) => id);
  const oldest = wanted.reduce((one, other) => (one < other ? one : other));
  const deadline = Date.now() + WAIT_LIMIT_MILLISECONDS;
  for (;;) {
    const listed = await walk(listAddress({ ...filter, limit: PAGE.maximum }), oldest);
    const ids = new Set(listed.map(({ id }) => id));
    if (wanted.every((id) => ids.has(id))) return listed;
    if (Date.now() > deadline) throw new Error(`The list does not contain all of ${wanted.join(', ')}`);
    await setTimeout(PAUSE_MILLISECONDS);
  }
}

/** Adds an item and waits until the list contains it. Returns the items from the newest item to `first`. */
export async function itemsAddedAfter(first: Item): Promise<Item[]> {
  return untilListed([first, await addItem()]);
}

/** Like `itemsAddedAfter`, but returns only the items that have `text` in the text field. */
export async function itemsWith(text: string, first: Item): Promise<Item[]> {
  return (await itemsAddedAfter(first)).filter((item) => item[textField] === text);
}
