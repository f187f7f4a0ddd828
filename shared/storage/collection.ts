import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { randomUUID } from 'node:crypto';
import { conditionHolds, database, readItem, UnavailableError } from './database.ts';
import { createdMetric, requireEnvironment, tableVariable } from '../names.ts';
import { claimId } from './idempotency.ts';
import { newId } from './ids.ts';
import { type AnyItem, type Collection, fieldsOf, type Item } from '../contract/collection.ts';
import { listIndexes } from '../list-indexes.ts';
import { listEpochs, listPartitionOf } from '../list-partitions.ts';
import { count } from '../telemetry.ts';

/** Maximum number of ids to try. Collisions are rare, so 20 attempts are enough. */
const MAX_ATTEMPTS = 20;

/**
 * Stores and returns a new item, or returns undefined if the idempotency key was used for a different item. If the
 * response to a write is lost, the SDK's retry finds that the id is taken. The attribute `creation` then shows whether
 * this request or a different request took the id.
 *
 * @param signal signal that ends the database calls. No write starts after it is aborted.
 * @param token result of `tokenOf`. Until the token's idempotency record expires, all calls with the token and the same
 *   `newItem` return the same item, even if the first call was interrupted or is still running.
 *   @default - each call stores a new item
 * @param generateId function that generates an id and is called again if the id is taken
 * @throws UnavailableError if no free id was found, the clock is wrong, or the stored item or the idempotency record
 *   was deleted.
 */
export async function create<C extends Collection>(
  collection: C,
  newItem: Omit<Item<C>, 'id'>,
  signal: AbortSignal,
  token?: string,
  generateId: () => bigint = newId,
): Promise<Item<C> | undefined> {
  const { singular } = collection;
  const table = requireEnvironment(tableVariable(collection));
  const creation = token ?? randomUUID();
  let taken: bigint | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const proposed = generateId();
    const id = token ? await claimId(collection, token, newItem, proposed, signal, taken) : proposed;
    if (id === undefined) return undefined;
    const item = { id, ...newItem } as Item<C>;
    const partition = listPartitionOf(id, listEpochs());
    if (await putIfAbsent(table, { ...item, creation, ...indexKeys(collection, item, partition) }, signal)) {
      count(createdMetric(collection), {});
      return item;
    }
    const stored = await readItem<AnyItem & { creation: string }>(table, { id }, database, signal);
    // Items are never deleted, so a missing item is unexpected. The create fails, because a write with a new id could
    // create a duplicate.
    if (!stored) throw new UnavailableError(`The ${singular} ${id} is missing.`);
    // This call, or another one with the same token, stored the item. The result has the stored fields, because an
    // operation that changes items can have changed them since.
    if (stored.creation === creation) return published(collection, stored);
    taken = id;
  }
  throw new UnavailableError('The service could not assign an id.');
}

/** Returns the item with this id, or undefined if there is none. The read is strongly consistent. */
export async function get<C extends Collection>(
  collection: C,
  id: bigint,
  signal: AbortSignal,
): Promise<Item<C> | undefined> {
  const table = requireEnvironment(tableVariable(collection));
  const stored = await readItem<AnyItem>(table, { id }, database, signal);
  return stored && published(collection, stored);
}

function putIfAbsent(TableName: string, Item: object, signal: AbortSignal): Promise<boolean> {
  const put = new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(id)' });
  return conditionHolds(database.send(put, { abortSignal: signal }));
}

/**
 * Returns the index keys of an item by attribute. The key of the list without filters is the partition itself. An
 * operation that changes a field with a filter must also write the keys that this function returns for the changed
 * item, and remove the others.
 *
 * @param partition list partition of the item, as `listPartitionOf` returns it for a new item
 */
export function indexKeys(
  collection: Pick<Collection, 'filterCombinations'>,
  item: object,
  partition: string,
): Record<string, string> {
  const indexes = listIndexes(collection).filter(({ filters }) => filters.every((name) => name in item));
  return Object.fromEntries(
    indexes.map(({ filters, partitionKey }) => [partitionKey, partitionKeyValue(filters, item, partition)]),
  );
}

/** Returns the value of an index's partition key, such as `crime#0`, or `0` for the index without filters. */
export function partitionKeyValue(filters: readonly string[], values: object, partition: string): string {
  const texts = filters.map((name) => String(values[name as keyof typeof values]));
  return [...texts, partition].join('#');
}

/** Returns the published fields of a stored item. */
export function published<C extends Collection>(collection: C, stored: object): Item<C> {
  const values: Record<string, unknown> = { ...stored };
  const present = fieldsOf(collection).filter((name) => values[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, values[name]])) as object as Item<C>;
}
