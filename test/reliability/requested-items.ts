import { isDeepStrictEqual } from 'node:util';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { seededInteger } from '../support/fault-proxy.ts';
import { type Item, itemsPath, type NewItem, textField } from '../support/sample.ts';

/** An item that a client creates. Half of the items have an `Idempotency-Key`. */
export interface RequestedItem {
  content: NewItem;
  key: string | undefined;
  requests: number;
  /** Ids in all 201 responses, including lost responses. */
  ids: Set<bigint>;
}

/** Fields of the created pets, except their names. */
const contents: Omit<NewItem, 'name'>[] = [
  { categoryId: 7n, status: 'available' },
  { categoryId: 7n, status: 'pending' },
  { categoryId: 7n, status: 'sold' },
  { categoryId: 7n },
  { categoryId: -(2n ** 63n) },
];

/** Returns an item with a unique text. `seed` and `number` determine the item's other fields. */
export function itemToRequest(seed: number, number: number): RequestedItem {
  const content = contents[seededInteger(contents.length, seed, 'input', number)]!;
  const key = number % 2 === 0 ? `key-${number}` : undefined;
  return { content: { ...content, [textField]: `Item ${number}` }, key, requests: 0, ids: new Set() };
}

export function createRequest({ content, key }: Pick<RequestedItem, 'content' | 'key'>) {
  const headers = { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) };
  return { method: 'POST', headers, body: stringifyJson(content) };
}

/** Reads all pages of the list. @param read sends a list request to a path relative to the base URL */
export async function listAll(
  read: (path: string) => Promise<{ body: string; link: string | null | undefined }>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let path: string | undefined = `${itemsPath}?limit=${PAGE.maximum}`; path;) {
    const { body, link } = await read(path);
    items.push(...(parseJson(body) as Item[]));
    path = /\/v1(\/[^>]*)>; rel="next"/.exec(link ?? '')?.[1];
  }
  return items;
}

/** Returns one sentence for each violated guarantee. @param items all items in the list */
export function violationsOf(requested: RequestedItem[], items: Item[]): string[] {
  const violations: string[] = [];
  const foundIds = new Set(items.map(({ id }) => id));
  if (foundIds.size < items.length) violations.push('The list contains an item more than once.');

  const foundByText = Map.groupBy(items, (item) => item[textField]);
  for (const { content, key, requests, ids } of requested) {
    const text = content[textField];
    const copies = foundByText.get(text) ?? [];
    foundByText.delete(text);
    for (const copy of copies) {
      if (!isDeepStrictEqual(copy, { id: copy.id, ...content }))
        violations.push(`${text} is stored with different content.`);
    }
    for (const id of ids)
      if (!foundIds.has(id)) violations.push(`${text} is missing despite a 201 response.`);
    if (copies.length > requests) {
      violations.push(`${text} is stored ${copies.length} times after ${requests} requests.`);
    }
    if (key && (ids.size > 1 || copies.length > 1)) {
      violations.push(
        `${text} has an Idempotency-Key but ${ids.size} ids and ${copies.length} stored copies.`,
      );
    }
  }
  for (const text of foundByText.keys()) violations.push(`${text} is stored, but no client created it.`);
  return violations;
}
