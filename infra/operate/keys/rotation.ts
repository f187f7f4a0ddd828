import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type ApiKeyRecord, type KeyStore, stateOf } from '../../../shared/storage/api-keys.ts';
import { conditionHolds, database } from '../../../shared/storage/database.ts';
import { UsageError } from '../../command.ts';
import {
  auditLine,
  discardApiKey,
  findApiKey,
  type IssuedKey,
  issueApiKey,
  type NewKey,
  timeAfter,
} from './lifecycle.ts';

/** @throws UsageError if the key does not exist, has expired, or was rotated or revoked. */
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
 * Issues a successor, shows the successor, and then sets the old key to expire after the overlap or at its original
 * expiry, whichever is earlier. An interrupted rotation does not change the old key, but the successor may exist.
 *
 * @param rotation the overlap in milliseconds, and the successor's lifetime (default: the lifetime of the old key)
 * @param show a function that shows the operator the successor and the new expiry of the old key
 * @throws UsageError if another operator has rotated or revoked the old key, in which case the successor is revoked.
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
      `The old key ${keyId} may work even after the overlap. Follow "Interrupted rotations" in docs/api-keys.md. ` +
        `Cause: ${error.message}`,
      { cause: error },
    );
  });
  if (isRotated) return;

  const outcome = await discardApiKey(store, successor, caller);
  const reason = await findRotatableKey(store, keyId).then(
    () => `Another command changed the key ${keyId}. Check the list of keys.`,
    (error: Error) => error.message,
  );
  throw new UsageError(`${outcome} ${reason}`);
}

function lifetimeOf({ createdAt, expiresAt }: ApiKeyRecord): number | undefined {
  return expiresAt === undefined ? undefined : Date.parse(expiresAt) - Date.parse(createdAt);
}
