import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { hash } from 'node:crypto';
import { conditionHolds, database, readItem } from './database.ts';
import { environmentVariables, requireEnvironment } from '../names.ts';
import { ApiError } from '../contract/errors.ts';
import { stringifyJson } from '../contract/json.ts';
import { IDEMPOTENCY_HOURS } from '../contract/limits.ts';
import type { NewPet } from '../contract/schemas.ts';

/** What a request that may be repeated is going to do, kept until nobody is expected to repeat it. */
interface Intent {
  token: string;
  /** SHA-256 of what is asked for, in hexadecimal digits. */
  fingerprint: string;
  petId: bigint;
  expiresAt: number;
}

/**
 * The token of an `Idempotency-Key`, which is one of an API key and operation: SHA-256 in hexadecimal digits.
 *
 * @throws Error without the id of an API key: all clients would share one space of keys.
 */
export function tokenOf(keyId: string | undefined, operation: string, idempotencyKey: string): string {
  if (!keyId) throw new Error('A request with an Idempotency-Key must have the id of an API key.');
  return hash('sha256', stringifyJson([keyId, operation, idempotencyKey]));
}

/**
 * The identifier under which all retries of a request store its pet: `drawn` for the first of them.
 *
 * @param taken an identifier agreed on before that turned out to be another pet's
 * @throws ApiError `idempotency_key_reused` when the token stands for another pet.
 */
export async function claimPetId(
  token: string,
  newPet: NewPet,
  proposed: bigint,
  taken?: bigint,
): Promise<bigint> {
  const members = Object.entries(newPet).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const fingerprint = hash('sha256', stringifyJson(members));
  const now = Math.floor(Date.now() / 1_000);
  const intent: Intent = { token, fingerprint, petId: proposed, expiresAt: now + IDEMPOTENCY_HOURS * 3_600 };
  if (await putUnlessEarlier(intent, now, taken)) return proposed;

  const earlier = await readItem<Pick<Intent, 'fingerprint' | 'petId'>>(intentsTable(), { token });
  // The failed condition proves that it existed; only TTL or a manual delete can have removed it since.
  if (!earlier) throw new ApiError('service_unavailable');
  if (earlier.fingerprint !== fingerprint) throw new ApiError('idempotency_key_reused');
  return earlier.petId;
}

/** Puts an intent unless an earlier one counts. The table removes expired ones late: what counts is the time in them. */
function putUnlessEarlier(intent: Intent, now: number, taken: bigint | undefined): Promise<boolean> {
  const conditions = [
    'attribute_not_exists(petId)',
    'expiresAt < :now',
    ...(taken ? ['petId = :taken'] : []),
  ];
  return conditionHolds(
    database.send(
      new PutCommand({
        TableName: intentsTable(),
        Item: intent,
        ConditionExpression: conditions.join(' OR '),
        ExpressionAttributeValues: { ':now': now, ...(taken && { ':taken': taken }) },
      }),
    ),
  );
}

function intentsTable(): string {
  return requireEnvironment(environmentVariables.intentsTable);
}
