import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { randomUUID } from 'node:crypto';
import { conditionHolds, database, readItem, UnavailableError } from './database.ts';
import { metrics, requireEnvironment } from '../names.ts';
import { claimPetId } from './idempotency.ts';
import { listPartitionOf, newId } from './ids.ts';
import { type NewPet, Pet, petList } from '../contract/pets.ts';
import { listIndexes } from '../list-indexes.ts';
import { count } from '../telemetry.ts';

export const petFields = Object.keys(Pet.entries) as (keyof Pet)[];

/** Maximum number of ids to try. Collisions are rare, so 20 attempts are enough. */
const MAX_ATTEMPTS = 20;

/** Item in the pets table. The item also has its index keys. `creation` identifies the request that created the pet. */
interface PetItem extends Pet {
  creation: string;
}

/**
 * Stores and returns a new pet, or returns undefined if the idempotency key was used for a different pet. If the response
 * to a write is lost, the retry finds that the id is taken. `creation` then shows whether this request or a different
 * request took the id.
 *
 * @param token result of `tokenOf`. All requests with the token return the same pet, even if the first request was
 *   interrupted or is still running. @default - each call stores a new pet
 * @param generateId function that generates an id and is called again if the id is taken
 * @throws UnavailableError if no free id was found, or the stored pet or the idempotency record was deleted.
 */
export async function createPet(
  newPet: NewPet,
  token?: string,
  generateId: () => bigint = newId,
): Promise<Pet | undefined> {
  const creation = token ?? randomUUID();
  let taken: bigint | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const proposed = generateId();
    const id = token ? await claimPetId(token, newPet, proposed, taken) : proposed;
    if (id === undefined) return undefined;
    const pet: Pet = { id, ...newPet };
    const partition = listPartitionOf(id, listPartitions());
    if (await putIfAbsent({ ...pet, creation, ...indexKeys(pet, partition) })) {
      count(metrics.petsCreated, {});
      return pet;
    }
    const stored = await readPet(id);
    // Pets are never deleted, so a missing pet is unexpected. The create fails, because a write with a new id could
    // create a duplicate.
    if (!stored) throw new UnavailableError(`The pet ${id} is missing.`);
    // If this create stored the pet, the stored pet equals `pet`, because pets never change.
    if (stored.creation === creation) return pet;
    taken = id;
  }
  throw new UnavailableError('The service could not assign an id.');
}

/** Returns the pet with this id, or undefined if there is none. The read is strongly consistent. */
export async function getPet(id: bigint): Promise<Pet | undefined> {
  const item = await readPet(id);
  return item && toPet(item);
}

function putIfAbsent(Item: PetItem): Promise<boolean> {
  const TableName = requireEnvironment('petsTable');
  const put = new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(id)' });
  return conditionHolds(database.send(put));
}

function readPet(id: bigint): Promise<PetItem | undefined> {
  return readItem(requireEnvironment('petsTable'), { id });
}

/** Returns the index keys of a pet in a list partition. The key of the list without filters is the partition itself. */
export function indexKeys(pet: Pet, partition: string): Record<string, string> {
  const values: Record<string, unknown> = { ...pet };
  const indexes = listIndexes(petList).filter(({ filters }) => filters.every((name) => name in values));
  return Object.fromEntries(
    indexes.map(({ filters, partitionKey }) => [partitionKey, partitionKeyValue(filters, values, partition)]),
  );
}

/** Returns the value of an index's partition key, such as `available#0`, or `0` for the index without filters. */
export function partitionKeyValue(
  filters: readonly string[],
  values: Record<string, unknown>,
  partition: string,
): string {
  return [...filters.map((name) => values[name]), partition].join('#');
}

/** Returns the fields of a pet in the order of its schema, without storage attributes. */
export function toPet(item: Pet): Pet {
  const pet: Record<string, unknown> = {};
  for (const name of petFields) if (item[name] !== undefined) pet[name] = item[name];
  return pet as unknown as Pet;
}

export function listPartitions(): number {
  const partitions = Number(requireEnvironment('listPartitions'));
  // With zero partitions, all lists would be empty without an error.
  if (!Number.isInteger(partitions) || partitions < 1)
    throw new Error('LIST_PARTITIONS must be a positive integer.');
  return partitions;
}
