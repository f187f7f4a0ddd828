import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { randomUUID } from 'node:crypto';
import { conditionHolds, database, readItem, UnavailableError } from './database.ts';
import { type environmentVariables, type metrics, requireEnvironment } from '../names.ts';
import { claimId } from './idempotency.ts';
import { listPartitionOf, newId } from './ids.ts';
import type { List } from '../contract/lists.ts';
import { listIndexes } from '../list-indexes.ts';
import { count } from '../telemetry.ts';

/** Any item that a collection stores. Its id is from `newId`. */
interface AnyItem {
  id: bigint;
}

/** A resource whose items clients create, get and list. */
export interface Collection<Item extends AnyItem> {
  /** Name of an item, such as `pet`. */
  singular: string;
  list: List;
  /** Names of the fields in responses, in their order. A stored item also has attributes that are not published. */
  fields: readonly (keyof Item & string)[];
  /** Environment variable with the name of the table. */
  table: keyof typeof environmentVariables;
  /** Metric that counts the creates. */
  created: (typeof metrics)['petsCreated'];
}

/** Maximum number of ids to try. Collisions are rare, so 20 attempts are enough. */
const MAX_ATTEMPTS = 20;

/**
 * Stores and returns a new item, or returns undefined if the idempotency key was used for a different item. If the
 * response to a write is lost, the retry finds that the id is taken. The attribute `creation` then shows whether this
 * request or a different request took the id.
 *
 * @param token result of `tokenOf`. All requests with the token return the same item, even if the first request was
 *   interrupted or is still running. @default - each call stores a new item
 * @param generateId function that generates an id and is called again if the id is taken
 * @throws UnavailableError if no free id was found, or the stored item or the idempotency record was deleted.
 */
export async function create<Item extends AnyItem>(
  collection: Collection<Item>,
  newItem: Omit<Item, 'id'>,
  token?: string,
  generateId: () => bigint = newId,
): Promise<Item | undefined> {
  const { singular, list } = collection;
  const table = requireEnvironment(collection.table);
  const creation = token ?? randomUUID();
  let taken: bigint | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const proposed = generateId();
    const id = token ? await claimId(`${singular}Id`, token, newItem, proposed, taken) : proposed;
    if (id === undefined) return undefined;
    const item = { id, ...newItem } as Item;
    const partition = listPartitionOf(id, listPartitions());
    if (await putIfAbsent(table, { ...item, creation, ...indexKeys(list, item, partition) })) {
      count(collection.created, {});
      return item;
    }
    const stored = await readItem<{ creation: string }>(table, { id });
    // Items are never deleted, so a missing item is unexpected. The create fails, because a write with a new id could
    // create a duplicate.
    if (!stored) throw new UnavailableError(`The ${singular} ${id} is missing.`);
    // If this create stored the item, the stored item equals `item`, because items never change.
    if (stored.creation === creation) return item;
    taken = id;
  }
  throw new UnavailableError('The service could not assign an id.');
}

/** Returns the item with this id, or undefined if there is none. The read is strongly consistent. */
export async function get<Item extends AnyItem>(
  collection: Collection<Item>,
  id: bigint,
): Promise<Item | undefined> {
  const stored = await readItem<Item>(requireEnvironment(collection.table), { id });
  return stored && published(collection.fields, stored);
}

function putIfAbsent(TableName: string, Item: object): Promise<boolean> {
  const put = new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(id)' });
  return conditionHolds(database.send(put));
}

/**
 * Returns the index keys of an item in a list partition. The key of the list without filters is the partition itself. An
 * operation that changes a field with a filter must also write the keys that this function returns for the changed item,
 * and remove the others.
 */
export function indexKeys(list: List, item: object, partition: string): Record<string, string> {
  const indexes = listIndexes(list).filter(({ filters }) => filters.every((name) => name in item));
  return Object.fromEntries(
    indexes.map(({ filters, partitionKey }) => [partitionKey, partitionKeyValue(filters, item, partition)]),
  );
}

/** Returns the value of an index's partition key, such as `available#0`, or `0` for the index without filters. */
export function partitionKeyValue(filters: readonly string[], values: object, partition: string): string {
  const texts = filters.map((name) => String(values[name as keyof typeof values]));
  return [...texts, partition].join('#');
}

/** Returns the published fields of a stored item. */
export function published<Item extends AnyItem>(
  fields: readonly (keyof Item & string)[],
  stored: Item,
): Item {
  const present = fields.filter((name) => stored[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, stored[name]])) as Partial<Item> as Item;
}

export function listPartitions(): number {
  const partitions = Number(requireEnvironment('listPartitions'));
  // With zero partitions, all lists would be empty without an error.
  if (!Number.isInteger(partitions) || partitions < 1)
    throw new Error('LIST_PARTITIONS must be a positive integer.');
  return partitions;
}
