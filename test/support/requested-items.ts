import { isDeepStrictEqual } from 'node:util';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { firstCollection } from '../collections/all.ts';
import { type NewItem, variantOf } from './collection-tests.ts';
import type { StoredItem } from './items.ts';

export const { path: listPath, newItem, variants } = firstCollection;

const TEXT = 'a text';
/** Name of the field by which tests recognize their items. */
export const [textField] = Object.entries(newItem(TEXT)).find(([, value]) => value === TEXT)!;

/** An item that a client creates. Half of the items have an `Idempotency-Key`. */
export interface RequestedItem {
  /** Unique text in the item's text field. */
  text: string;
  content: NewItem;
  key: string | undefined;
  requests: number;
  /** Ids in the 201 responses that the client received. */
  ids: Set<bigint>;
}

/** Returns the item whose text, fields and `Idempotency-Key` follow from `number`. */
export function itemToRequest(number: number): RequestedItem {
  const text = `Item ${number}`;
  const fields = [{}, ...variants];
  const content = variantOf(newItem(text), fields[number % fields.length]!);
  const key = number % 2 === 0 ? `key-${number}` : undefined;
  return { text, content, key, requests: 0, ids: new Set() };
}

export function createRequest({ content, key }: { content: NewItem; key?: string | undefined }) {
  const headers = { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) };
  return { method: 'POST', headers, body: stringifyJson(content) };
}

/**
 * Reads all pages of the list, and returns their items.
 *
 * @param read function that sends a list request to a path relative to the base URL
 */
export async function listAll(
  read: (path: string) => Promise<{ body: string; link: string | null | undefined }>,
): Promise<StoredItem[]> {
  const items: StoredItem[] = [];
  for (let path: string | undefined = `${listPath}?limit=${PAGE.maximum}`; path;) {
    const { body, link } = await read(path);
    items.push(...(parseJson(body) as StoredItem[]));
    path = /\/v1(\/[^>]*)>; rel="next"/.exec(link ?? '')?.[1];
  }
  return items;
}

/**
 * Returns one sentence for each violated guarantee.
 *
 * @param items all items in the list
 */
export function violationsOf(requested: RequestedItem[], items: StoredItem[]): string[] {
  const violations: string[] = [];
  const foundIds = new Set(items.map(({ id }) => id));
  if (foundIds.size < items.length) violations.push('The list contains an item more than once.');

  const foundByText = Map.groupBy(items, (item) => item[textField]);
  for (const { text, content, key, requests, ids } of requested) {
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
  for (const text of foundByText.keys())
    violations.push(`${String(text)} is stored, but no client created it.`);
  return violations;
}
