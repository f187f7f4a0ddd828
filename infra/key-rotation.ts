import { type ApiKeyRecord, type KeyStore, stateOf } from '../shared/api-keys.ts';
import { readItem, updateIf } from '../shared/database.ts';
import { UsageError } from './command.ts';
import {
  auditLine,
  findApiKey,
  type IssuedKey,
  makeApiKey,
  type NewKey,
  putNew,
  timeAfter,
  withdrawApiKey,
} from './key-lifecycle.ts';

// A rotation has two parts, between which the new key is shown: `beginRotation` and `completeRotation`. Each may be cut
// off anywhere; the key that is rotated works until the second has given it its end.

/** @throws UsageError when there is no such key, or it was rotated or does not work any more. */
export async function findRotatableKey(store: KeyStore, keyId: string): Promise<ApiKeyRecord> {
  const record = await findApiKey(store, keyId);
  const { rotatedBy, successor } = record;
  if (rotatedBy) {
    throw new UsageError(
      `The key ${keyId} was rotated on ${rotatedBy.time} by ${rotatedBy.caller}: its successor is ${successor?.keyId}.`,
    );
  }
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
 * @throws UsageError when somebody else has rotated or revoked the key meanwhile.
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
      throw new UsageError(
        `Its successor ${abandoned.keyId} was rotated itself, so that somebody has it: rotate ${predecessor.keyId} with --complete.`,
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
 * The successor in a rotation that was cut off, for completing it when its key was shown and kept.
 *
 * @throws UsageError when there is none, or it does not work.
 */
export async function findBegunSuccessor(
  { table }: KeyStore,
  { keyId, successor }: ApiKeyRecord,
): Promise<ApiKeyRecord> {
  const record =
    successor && !successor.isAbandoned
      ? await readItem<ApiKeyRecord>(table, { hash: successor.hash })
      : undefined;
  if (record && stateOf(record, new Date()) === 'active') return record;
  throw new UsageError(`No rotation of ${keyId} was begun whose key works: rotate it without --complete.`);
}

/** When a key that is rotated now expires: after the overlap, or earlier if it would have anyway. */
export function endOfOverlap({ expiresAt }: ApiKeyRecord, overlap: number): string {
  const end = timeAfter(overlap);
  return expiresAt !== undefined && expiresAt < end ? expiresAt : end;
}

/** Gives a rotated key its end; gives whether it did: not if the rotation was begun again meanwhile. */
export async function completeRotation(
  { table }: KeyStore,
  predecessor: ApiKeyRecord,
  successor: ApiKeyRecord,
  { expiresAt, caller }: { expiresAt: string; caller: string },
): Promise<boolean> {
  const { hash, keyId } = predecessor;
  return updateIf({
    TableName: table,
    Key: { hash },
    UpdateExpression: 'SET expiresAt = :expiresAt, rotatedBy = :rotatedBy',
    ConditionExpression: 'successor.#hash = :hash AND attribute_not_exists(successor.isAbandoned)',
    ExpressionAttributeNames: { '#hash': 'hash' },
    ExpressionAttributeValues: {
      ':expiresAt': expiresAt,
      ':rotatedBy': auditLine('rotate', keyId, caller),
      ':hash': successor.hash,
    },
  });
}

function lifetimeOf({ createdAt, expiresAt }: ApiKeyRecord): number | undefined {
  return expiresAt === undefined ? undefined : Date.parse(expiresAt) - Date.parse(createdAt);
}

function changedMeanwhile({ keyId }: ApiKeyRecord): UsageError {
  return new UsageError(
    `Somebody else rotates or revokes ${keyId} at the same time: look at the list, and try again.`,
  );
}
