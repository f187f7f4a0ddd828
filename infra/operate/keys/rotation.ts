import { type ApiKeyRecord, type KeyStore, stateOf } from '../../../shared/storage/api-keys.ts';
import { readItem, updateIf } from '../../../shared/storage/database.ts';
import { UsageError } from '../command.ts';
import {
  auditLine,
  findApiKey,
  type IssuedKey,
  makeApiKey,
  type NewKey,
  putNew,
  timeAfter,
  withdrawApiKey,
} from './lifecycle.ts';

/** Somebody else has done something to the keys of a rotation, so that it does not go on. */
export class RotationConflict extends UsageError {}

// A rotation has two parts, between which the new key is shown: `beginRotation` and `completeRotation`. Each may be cut
// off anywhere; the key that is rotated works until the second has given it its end.

/** @throws UsageError when there is no such key, or it was rotated or does not work any more. */
export async function findRotatableKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const record = await findApiKey(store, keyId);
  if (record.rotatedBy) throw rotatedBefore(record);
  const state = stateOf(record, new Date());
  if (state !== 'active')
    throw new UsageError(`The key ${keyId} is ${state}: issue a new one to ${record.owner}.`);
  return record;
}

/**
 * Issues the successor of a key, for the same owner. The key works on as before: its end is set by `completeRotation`,
 * once the successor was shown. Until then the rotation may be begun again, with another successor in place of this one,
 * which does not work from then on.
 *
 * @param lifetime as long as the key itself was issued for, if not given.
 * @throws RotationConflict when somebody else has rotated or revoked the key, or its successor, meanwhile.
 */
export async function beginRotation(
  { stage, table }: KeyStore,
  predecessor: ApiKeyRecord,
  { lifetime = lifetimeOf(predecessor), caller }: Omit<NewKey, 'owner'>,
): Promise<IssuedKey> {
  const { owner, successor: abandoned } = predecessor;
  const issued = makeApiKey(stage, 'rotate', { owner, lifetime, caller });
  const { keyId, hash } = issued.record;

  if (abandoned) {
    const itself = await readItem<ApiKeyRecord>(table, { hash: abandoned.hash });
    if (itself?.successor) {
      throw new RotationConflict(
        `Its successor ${abandoned.keyId} was rotated itself, so that somebody has it: ${
          abandoned.isAbandoned ? 'revoke' : 'use --complete to end'
        } ${predecessor.keyId}.`,
      );
    }
    // First the rotation that was begun before is kept from being completed: whoever runs it may still be at work.
    if (!(await abandonRotation(table, predecessor.hash, abandoned.hash)))
      throw changedMeanwhile(predecessor);
    await withdrawApiKey(table, abandoned, caller);
  }
  // Only what is named here can become a successor, so that there is never a second.
  const isNamed = await updateIf({
    TableName: table,
    Key: { hash: predecessor.hash },
    UpdateExpression: 'SET successor = :successor',
    // The SDK repeats an update whose answer got lost: it then finds its own.
    ConditionExpression:
      'attribute_not_exists(rotatedBy) AND attribute_not_exists(revokedAt) ' +
      `AND (${abandoned ? 'successor.#hash = :abandoned' : 'attribute_not_exists(successor)'} ` +
      'OR (successor.#hash = :hash AND attribute_not_exists(successor.isAbandoned)))',
    ExpressionAttributeNames: { '#hash': 'hash' },
    ExpressionAttributeValues: {
      ':successor': { keyId, hash },
      ':hash': hash,
      ...(abandoned && { ':abandoned': abandoned.hash }),
    },
  });
  if (!isNamed || !(await putNew(table, issued.record))) throw changedMeanwhile(predecessor);
  return issued;
}

function abandonRotation(table: string, hash: string, abandoned: string): Promise<boolean> {
  return updateIf({
    TableName: table,
    Key: { hash },
    UpdateExpression: 'SET successor.isAbandoned = :true',
    ConditionExpression:
      'attribute_not_exists(rotatedBy) AND attribute_not_exists(revokedAt) AND successor.#hash = :abandoned',
    ExpressionAttributeNames: { '#hash': 'hash' },
    ExpressionAttributeValues: { ':true': true, ':abandoned': abandoned },
  });
}

/**
 * The successor in a rotation that was cut off, for completing it when its key was shown and kept. It works, or has
 * found a successor of its own.
 *
 * @throws UsageError when there is none.
 */
export async function findBegunSuccessor(
  { table }: KeyStore,
  { keyId, successor }: ApiKeyRecord,
): Promise<ApiKeyRecord> {
  const record =
    successor && !successor.isAbandoned
      ? await readItem<ApiKeyRecord>(table, { hash: successor.hash })
      : undefined;
  if (record && (record.successor || stateOf(record, new Date()) === 'active')) return record;
  throw new UsageError(`No rotation of ${keyId} was begun whose key works: rotate it without --complete.`);
}

/** When a key that is rotated now expires: after the overlap, or earlier if it would have anyway. */
export function endOfOverlap({ expiresAt }: ApiKeyRecord, overlap: number): string {
  const end = timeAfter(overlap);
  return expiresAt !== undefined && expiresAt < end ? expiresAt : end;
}

/**
 * Gives a rotated key its end.
 *
 * @throws RotationConflict when it was revoked or rotated meanwhile, or its rotation was begun again.
 */
export async function completeRotation(
  { table }: KeyStore,
  predecessor: ApiKeyRecord,
  successor: ApiKeyRecord,
  { expiresAt, caller }: { expiresAt: string; caller: string },
): Promise<void> {
  const { hash, keyId } = predecessor;
  const rotatedBy = auditLine('rotate', keyId, caller);
  const isComplete = await updateIf({
    TableName: table,
    Key: { hash },
    UpdateExpression: 'SET expiresAt = :expiresAt, rotatedBy = :rotatedBy',
    // A repetition by the SDK finds its own time.
    ConditionExpression:
      'successor.#hash = :hash AND attribute_not_exists(successor.isAbandoned) AND attribute_not_exists(revokedAt) ' +
      'AND (attribute_not_exists(rotatedBy) OR rotatedBy.#time = :time)',
    ExpressionAttributeNames: { '#hash': 'hash', '#time': 'time' },
    ExpressionAttributeValues: {
      ':expiresAt': expiresAt,
      ':rotatedBy': rotatedBy,
      ':time': rotatedBy.time,
      ':hash': successor.hash,
    },
  });
  if (!isComplete) throw await conflictOf(table, predecessor);
}

async function conflictOf(table: string, { hash, keyId }: ApiKeyRecord): Promise<RotationConflict> {
  const record = (await readItem<ApiKeyRecord>(table, { hash }))!;
  if (record.rotatedBy) return rotatedBefore(record);
  const { revokedAt, revokedBy } = record;
  return new RotationConflict(
    revokedAt
      ? `The key ${keyId} was revoked at ${revokedAt} by ${revokedBy?.caller}; its successor is ${record.successor?.keyId}.`
      : `Somebody else rotates ${keyId} too, and has taken over: use no key that was shown here.`,
  );
}

function rotatedBefore({ keyId, rotatedBy, successor }: ApiKeyRecord): RotationConflict {
  return new RotationConflict(
    `The key ${keyId} was rotated on ${rotatedBy?.time} by ${rotatedBy?.caller}: its successor is ${successor?.keyId}.`,
  );
}

function lifetimeOf({ createdAt, expiresAt }: ApiKeyRecord): number | undefined {
  return expiresAt === undefined ? undefined : Date.parse(expiresAt) - Date.parse(createdAt);
}

function changedMeanwhile({ keyId }: ApiKeyRecord): RotationConflict {
  return new RotationConflict(
    `Somebody else rotates or revokes ${keyId} at the same time: look at the list, and try again.`,
  );
}
