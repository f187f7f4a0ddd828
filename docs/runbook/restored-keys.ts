import {
  type AttributeValue,
  GetItemCommand,
  paginateScan,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { UsageError } from '../../infra/command.ts';
import { findCaller } from '../../infra/operate/deployed-stage.ts';
import { auditLine } from '../../shared/api-keys.ts';
import { conditionHolds } from '../../shared/storage/database.ts';
import { client, type Item, type Write } from './scan-and-write.ts';

/** Part of the usage text of the script that copies items. */
export const USAGE_OF_KEYS = `For tables of API keys, REVOKED is required: the ids or hashes of the keys that were revoked after the restore point,
separated by spaces, or the word none. The script also revokes keys with a revocation that npm run keys -- revoke has stored.`;

/**
 * Returns the ids and hashes in the environment variable REVOKED.
 *
 * @throws UsageError if the variable is missing or invalid, because a key that is copied without its revocation would
 *   work again. The message does not quote the value, which may contain an API key.
 */
export function revokedKeys(): Set<string> {
  const keys = (process.env['REVOKED'] ?? '').split(/\s+/).filter((key) => key !== '');
  const where = '"Restored API keys" in docs/runbook.md explains where to find them.';
  if (keys.length === 0)
    throw new UsageError(
      'The tables contain API keys, so set REVOKED to the ids of the keys that were revoked after the restore point, ' +
        `separated by spaces, or to the word none. ${where}`,
    );
  if (keys.join() === 'none') return new Set();
  if (keys.every((key) => /^(?:key_[0-9a-f]+|[0-9a-f]{64})$/.test(key))) return new Set(keys);
  throw new UsageError(
    `REVOKED must consist of key ids, which start with key_, and of hashes, or be the word none. ${where}`,
  );
}

/**
 * Returns a function that returns the write for a key's record in the table SOURCE. The write copies the record if TARGET
 * does not contain it, and revokes the key if SOURCE, TARGET or `revoked` contains its revocation. If the record is
 * only the stored revocation of a key whose record was missing, the write also revokes the key's record in TARGET.
 *
 * @param revoked ids and hashes of keys that were revoked
 * @throws UsageError if SOURCE does not contain one of these keys, because its id can be mistyped
 */
export async function prepareKeys(SOURCE: string, TARGET: string, revoked: Set<string>) {
  const unknown = new Set(revoked);
  /** Stored revocations in SOURCE, by key id. */
  const revocations = new Map<string, Item>();
  for await (const item of itemsOf(SOURCE)) {
    const { hash, keyId } = item;
    for (const { S = '' } of [hash!, keyId ?? hash!]) unknown.delete(S);
    if (isRevocation(item)) revocations.set(keyId!.S!, attributesOf(item));
  }
  if (unknown.size > 0)
    throw new UsageError(
      `${SOURCE} contains no key ${[...unknown].join(' ')}. Correct REVOKED. Omit keys that were issued after the restore point.`,
    );
  /** Hashes of the records in TARGET that belong to these revocations, by key id. */
  const hashes = new Map<string, AttributeValue>();
  if (revocations.size > 0)
    for await (const item of itemsOf(TARGET))
      if (!isRevocation(item) && revocations.has(item['keyId']?.S ?? ''))
        hashes.set(item['keyId']!.S!, item['hash']!);
  const caller = revoked.size > 0 ? await findCaller() : '';

  /**
   * Returns the attributes of a key's revocation: that of the record, a stored one, or one for a key in REVOKED.
   * Returns undefined if the key was not revoked.
   */
  async function revocationOf({ hash, keyId, ...record }: Item): Promise<Item | undefined> {
    if (record['revokedAt']) return attributesOf(record);
    if (!keyId) return undefined;
    const read = new GetItemCommand({ TableName: TARGET, Key: { hash: keyId }, ConsistentRead: true });
    const { Item: stored } = await client.send(read);
    if (stored?.['revokedAt']) return attributesOf(stored);
    if (revocations.has(keyId.S!)) return revocations.get(keyId.S!);
    if (!revoked.has(keyId.S!) && !revoked.has(hash!.S!)) return undefined;
    const revokedBy = auditLine('revoke', keyId.S!, caller);
    return marshall({ revokedAt: revokedBy.time, revokedBy });
  }

  return (record: Item): Write =>
    async () => {
      const before = await revocationOf(record);
      const put = new PutItemCommand({
        TableName: TARGET,
        Item: { ...record, ...before },
        ConditionExpression: 'attribute_not_exists(#hash)',
        ExpressionAttributeNames: { '#hash': 'hash' },
      });
      const isCopied = await conditionHolds(client.send(put));
      const present = isRevocation(record) ? hashes.get(record['keyId']!.S!) : undefined;
      if (present && before) return (await revoke(TARGET, present, before)) || isCopied;
      if (isCopied && before) return true;
      // Before this copy, an operator who revoked the key found no record, and stored a revocation. The revocation is
      // therefore looked up again. From now on, an operator finds the record.
      const revocation = before ?? (await revocationOf(record));
      const isRevoked = revocation !== undefined && (await revoke(TARGET, record['hash']!, revocation));
      return isCopied || isRevoked;
    };
}

async function* itemsOf(TableName: string) {
  const scan = { TableName, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client }, scan)) yield* Items;
}

/** Returns whether an item is the revocation of a key whose record was missing. */
function isRevocation({ hash, keyId, revokedAt }: Item): boolean {
  return revokedAt !== undefined && hash?.S === keyId?.S;
}

/** Returns the attributes of an item that record the revocation of a key. */
function attributesOf({ revokedAt, revokedBy }: Item): Item {
  return { revokedAt: revokedAt!, ...(revokedBy && { revokedBy }) };
}

/** Revokes a key. Returns false if it was already revoked. */
function revoke(TableName: string, hash: AttributeValue, revocation: Item): Promise<boolean> {
  const names = Object.keys(revocation);
  const update = new UpdateItemCommand({
    TableName,
    Key: { hash },
    UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join()}`,
    ConditionExpression: 'attribute_not_exists(revokedAt)',
    ExpressionAttributeValues: Object.fromEntries(names.map((name) => [`:${name}`, revocation[name]!])),
  });
  return conditionHolds(client.send(update));
}
