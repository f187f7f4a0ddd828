import { randomUUID } from 'node:crypto';
import { indexKeys, listIndexes } from '../contract/lists.ts';
import { type AnyItem, type Collection, type Item, published } from '../contract/operation.ts';
import { createdMetric, requireEnvironment, tableVariable } from '../names.ts';
import { count } from '../telemetry.ts';
import { putOrRead, readItem, UnavailableError } from './database.ts';
import { claimId, type Intent } from './idempotency.ts';
import { newId } from './ids.ts';

/** Maximum number of ids to try. Collisions are rare, so 20 attempts are enough. */
const MAX_ATTEMPTS = 20;

/**
 * Stores and returns a new item. If its id is taken, the attribute `creation` shows by whom: by this call, if the response
 * to its write was lost, by another call with the same intent, or by a different request.
 *
 * @param signal signal that ends the database calls. No write starts after it is aborted.
 * @param intent result of `intentOf`. Until the idempotency record expires, all calls with the same intent return the same
 *   item, even if the first call was interrupted or is still running. @default - each call stores a new item
 * @throws ApiError `idempotency_key_reused` if the `Idempotency-Key` was used with another body
 * @throws UnavailableError if no free id was found, the clock is wrong, or the stored item or the idempotency record
 *   was deleted. The call then fails, because a write with a new id could create a duplicate.
 */
export async function create<C extends Collection>(
  collection: C,
  newItem: Omit<Item<C>, 'id'>,
  signal: AbortSignal,
  intent?: Intent,
): Promise<Item<C>> {
  const TableName = requireEnvironment(tableVariable(collection));
  const creation = intent?.token ?? randomUUID();
  let taken: bigint | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const proposed = newId();
    const id = intent ? await claimId(intent, proposed, signal, taken) : proposed;
    const item = { id, ...newItem } as Item<C>;
    const put = {
      TableName,
      Item: { ...item, creation, ...indexKeys(listIndexes(collection), item) },
      ConditionExpression: 'attribute_not_exists(id)',
    };
    const stored = await putOrRead<AnyItem & { creation: string }>(put, { id }, signal);
    if (!stored) {
      count(createdMetric(collection), {});
      return item;
    }
    // The result has the stored fields, because an operation that changes items can have changed them since.
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
  const stored = await readItem<AnyItem>(table, { id }, { abortSignal: signal });
  return stored && published(collection, stored);
}
