import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  paginateScan,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type ApiKeyRecord, auditLine } from '../../shared/api-keys.ts';
import { indexKeys, type ListIndex } from '../../shared/contract/lists.ts';
import { conditionHolds } from '../../shared/storage/database.ts';
import { UsageError } from '../command.ts';
import { revokeApiKey } from './key-store.ts';

// Each of these functions can be called again after an interruption at any point, because all writes are conditional.

/** Number of parts of a table that are read at the same time. */
const SEGMENTS = 8;
/** Number of items on a page of a scan, and the maximum number of keys that a BatchGetItem request can contain. */
const ITEMS_PER_PAGE = 100;

type Item = Record<string, unknown>;

/** Client of the tables, and what happens while they are read and written. */
export interface Run {
  database: DynamoDBDocumentClient;
  /** Waits until the next write may start. */
  pace: () => Promise<void>;
  /** Receives the numbers of items that were read and written since the last call. */
  count: (read: number, written: number) => void;
}

/**
 * Copies the items of the table `from` that the table `to` lacks, with the keys of their indexes. Replaces no item.
 *
 * @param key name of the partition key of both tables
 */
export async function copyMissing(run: Run, from: string, to: string, key: string, indexes: ListIndex[]) {
  await forEachPage(run, from, async (items) => {
    const Keys = items.map((item) => ({ [key]: item[key] }));
    const request = {
      [to]: {
        Keys,
        ConsistentRead: true,
        ProjectionExpression: '#key',
        ExpressionAttributeNames: { '#key': key },
      },
    };
    const { Responses } = await run.database.send(new BatchGetCommand({ RequestItems: request }));
    // DynamoDB can leave keys unprocessed. Their items count as missing, and the condition of the write prevents a copy.
    const present = new Set(Responses?.[to]?.map((item) => item[key]));
    for (const item of items) {
      const copied =
        !present.has(item[key]) && (await put(run, to, key, { ...item, ...indexKeys(indexes, item) }));
      run.count(1, copied ? 1 : 0);
    }
  });
}

/** Adds to the items of a table the keys of its indexes that they lack. Assumes that nothing else changes items. */
export async function addIndexKeys(run: Run, table: string, key: string, indexes: ListIndex[]) {
  await forEachPage(run, table, async (items) => {
    for (const item of items) {
      const missing = Object.entries(indexKeys(indexes, item)).filter(
        ([name, value]) => item[name] !== value,
      );
      run.count(
        1,
        missing.length > 0 && (await addAttributes(run, table, { [key]: item[key] }, missing)) ? 1 : 0,
      );
    }
  });
}

/**
 * Copies the API keys of the table `from` that the table `to` lacks. A key that is in `revoked`, or that is revoked in `from`,
 * is never active: its copy is revoked, and so is its record in `to`. If `to` alone contains the successor of a key, the
 * key was rotated after the restore point. Its copy is revoked too, because it lacks the end of its overlap.
 *
 * @param revoked ids of the keys that were revoked after the restore point
 * @param caller ARN of the operator
 * @throws UsageError if `from` lacks one of these keys, because its id can be mistyped
 */
export async function copyMissingKeys(
  run: Run,
  from: string,
  to: string,
  revoked: Set<string>,
  caller: string,
) {
  const [records, present] = [await keysIn(run, from), await keysIn(run, to)];
  const ids = new Set(records.map(({ keyId }) => keyId));
  const unknown = revoked.difference(ids);
  if (unknown.size > 0)
    throw new UsageError(
      `${from} contains no key ${[...unknown].join(' ')}. Correct the id, or omit a key that was issued after the restore point.`,
    );
  // If both tables contain the successor, its rotation was interrupted before the restore point, and the old key is valid.
  const successors = present.filter(({ keyId }) => !ids.has(keyId));
  const rotated = new Set(successors.map(({ replaces }) => replaces));
  const revokedHashes = new Set(present.filter(({ revokedAt }) => revokedAt).map(({ hash }) => hash));
  for (const record of records) {
    const { keyId, hash } = record;
    const hasLostRotation = rotated.has(keyId) && !record.rotatedBy;
    const revokedBy = auditLine('revoke', keyId, caller);
    const revocation = revoked.has(keyId) || hasLostRotation ? { revokedAt: revokedBy.time, revokedBy } : {};
    const copied = await put(run, to, 'hash', { ...revocation, ...record });
    const mustRevoke =
      !copied && (revoked.has(keyId) || record.revokedAt !== undefined) && !revokedHashes.has(hash);
    if (mustRevoke) await revokeApiKey({ database: run.database, table: to }, record, caller);
    run.count(1, copied || mustRevoke ? 1 : 0);
  }
}

async function keysIn(run: Run, table: string): Promise<ApiKeyRecord[]> {
  const records: ApiKeyRecord[] = [];
  await forEachPage(
    run,
    table,
    async (items) => void records.push(...(items as unknown[] as ApiKeyRecord[])),
  );
  return records;
}

/** Calls `act` for each page of a table. The reads are strongly consistent. */
async function forEachPage({ database }: Run, TableName: string, act: (items: Item[]) => Promise<void>) {
  const readSegment = async (_: unknown, Segment: number) => {
    const scan = { TableName, Segment, TotalSegments: SEGMENTS, ConsistentRead: true };
    for await (const { Items = [] } of paginateScan({ client: database, pageSize: ITEMS_PER_PAGE }, scan))
      if (Items.length > 0) await act(Items);
  };
  await Promise.all(Array.from({ length: SEGMENTS }, readSegment));
}

/** Stores an item, and returns true, unless there is an item with its key. */
async function put({ database, pace }: Run, TableName: string, key: string, item: object): Promise<boolean> {
  await pace();
  const command = new PutCommand({
    TableName,
    Item: item,
    ConditionExpression: 'attribute_not_exists(#key)',
    ExpressionAttributeNames: { '#key': key },
  });
  return conditionHolds(database.send(command));
}

/** Sets attributes of an item, and returns true, unless the item was deleted. */
async function addAttributes(
  { database, pace }: Run,
  TableName: string,
  Key: Item,
  attributes: [string, unknown][],
) {
  await pace();
  const names = attributes.map(([name], index) => [`#${index}`, name] as const);
  const command = new UpdateCommand({
    TableName,
    Key,
    UpdateExpression: `SET ${attributes.map((_, index) => `#${index} = :${index}`).join()}`,
    ConditionExpression: 'attribute_exists(#key)',
    ExpressionAttributeNames: { ...Object.fromEntries(names), '#key': Object.keys(Key)[0]! },
    ExpressionAttributeValues: Object.fromEntries(attributes.map(([, value], index) => [`:${index}`, value])),
  });
  return conditionHolds(database.send(command));
}

/** Returns a function that waits, so that it resolves at most this many times a second. It allows no burst after a pause. */
export function paceOf(perSecond: number): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = performance.now();
    const start = Math.max(next, now);
    next = start + 1_000 / perSecond;
    if (start > now) await new Promise((resolve) => setTimeout(resolve, start - now));
  };
}
