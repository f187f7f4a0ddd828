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

/** @throws UsageError if there is no such key, or it was rotated or does not work. */
export async function findRotatableKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const record = await findApiKey(store, keyId);
  const { owner, rotatedBy, successor } = record;
  if (rotatedBy) {
    const { time, caller } = rotatedBy;
    throw new UsageError(
      `The key ${keyId} was rotated on ${time} by ${caller}: its successor is ${successor?.keyId}.`,
    );
  }
  const state = stateOf(record, new Date());
  if (state !== 'active') throw new UsageError(`The key ${keyId} is ${state}: issue a new one to ${owner}.`);
  return record;
}

/**
 * Issues the successor of a key for the same owner, shows it, and then sets the expiry of the key: after the overlap, or
 * earlier if the key expires earlier anyway. If this is interrupted, the key works as before, and its successor may be
 * in the list.
 *
 * @param rotation including the overlap in milliseconds. Without a lifetime, the successor gets that of the key.
 * @param show shows the successor, and the expiry of the key, to the operator.
 * @throws UsageError if another operator has rotated or revoked the key meanwhile. The successor is then revoked.
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
    // The SDK retries an update whose response was lost: the retry finds its own successor, even if the key was revoked since.
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
      `The expiry of the key ${keyId} may not be set: see "Interrupted rotations" in docs/api-keys.md. ${error.message}`,
      { cause: error },
    );
  });
  if (isRotated) return;

  const outcome = await discardApiKey(store, successor, caller);
  const reason = await findRotatableKey(store, keyId).then(
    () => `The key ${keyId} has changed meanwhile: check the list.`,
    (error: Error) => error.message,
  );
  throw new UsageError(`${outcome} ${reason}`);
}

function lifetimeOf({ createdAt, expiresAt }: ApiKeyRecord): number | undefined {
  return expiresAt === undefined ? undefined : Date.parse(expiresAt) - Date.parse(createdAt);
}
