import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type ApiKeyRecord, type KeyStore, stateOf } from '../../../shared/storage/api-keys.ts';
import { conditionHolds, database } from '../../../shared/storage/database.ts';
import { UsageError } from '../command.ts';
import {
  auditLine,
  discardApiKey,
  findApiKey,
  type IssuedKey,
  issueApiKey,
  type NewKey,
  timeAfter,
} from './lifecycle.ts';

/** @throws UsageError if the key does not exist, or was rotated, revoked or has expired. */
export async function findRotatableKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const record = await findApiKey(store, keyId);
  const { owner, rotatedBy, successor } = record;
  if (rotatedBy) {
    const { time, caller } = rotatedBy;
    throw new UsageError(
      `The key ${keyId} was rotated at ${time} by ${caller}. Its successor is ${successor?.keyId}.`,
    );
  }
  const state = stateOf(record, new Date());
  if (state !== 'active') throw new UsageError(`The key ${keyId} is ${state}. Issue a new key to ${owner}.`);
  return record;
}

/**
 * Issues a successor to the same owner, shows the successor, and then lets the old key expire after the overlap, unless
 * it expires earlier anyway. If the rotation is interrupted, the old key works as before, and the successor may exist.
 *
 * @param rotation the overlap in milliseconds, and the successor's lifetime. @default lifetime - that of the old key
 * @param show shows the successor, and the time at which the old key expires, to the operator
 * @throws UsageError if another operator has rotated or revoked the old key. The successor is then revoked.
 */
export async function rotateApiKey(
  store: KeyStore,
  predecessor: ApiKeyRecord,
  rotation: Omit<NewKey, 'owner' | 'replaces'> & { overlap: number },
  show: (successor: IssuedKey, expiresAt: string) => Promise<void>,
): Promise<void> {
  const { keyId, owner, hash } = predecessor;
  const { overlap, lifetime = lifetimeOf(predecessor), caller } = rotation;
  const end = timeAfter(overlap);
  const expiresAt = predecessor.expiresAt && predecessor.expiresAt < end ? predecessor.expiresAt : end;
  const newKey = { owner, lifetime, caller, replaces: keyId };
  const { record: successor } = await issueApiKey(store, newKey, (issued) => show(issued, expiresAt));

  const update = new UpdateCommand({
    TableName: store.table,
    Key: { hash },
    UpdateExpression: 'SET expiresAt = :expiresAt, rotatedBy = :rotatedBy, successor = :successor',
    // If the response is lost, the SDK retries the update. The first condition lets the retry succeed.
    ConditionExpression:
      'successor.keyId = :keyId OR ' +
      '(attribute_exists(keyId) AND attribute_not_exists(rotatedBy) AND attribute_not_exists(revokedAt))',
    ExpressionAttributeValues: {
      ':expiresAt': expiresAt,
      ':rotatedBy': auditLine('rotate', keyId, caller),
      ':successor': { keyId: successor.keyId },
      ':keyId': successor.keyId,
    },
  });
  const isRotated = await conditionHolds(database.send(update)).catch((error: Error) => {
    throw new UsageError(
      `The old key ${keyId} may not have been set to expire. Follow "Interrupted rotations" in docs/api-keys.md. ` +
        `Cause: ${error.message}`,
      { cause: error },
    );
  });
  if (isRotated) return;

  const outcome = await discardApiKey(store, successor, caller);
  const reason = await findRotatableKey(store, keyId).then(
    () => `The key ${keyId} was changed by another command. Check the list.`,
    (error: Error) => error.message,
  );
  throw new UsageError(`${outcome} ${reason}`);
}

function lifetimeOf({ createdAt, expiresAt }: ApiKeyRecord): number | undefined {
  return expiresAt === undefined ? undefined : Date.parse(expiresAt) - Date.parse(createdAt);
}
