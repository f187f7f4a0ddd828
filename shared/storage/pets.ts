import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { randomUUID } from 'node:crypto';
import { conditionHolds, database, readItem } from './database.ts';
import { environmentVariables, metrics, requireEnvironment } from '../names.ts';
import { ApiError } from '../contract/errors.ts';
import { claimPetId } from './intents.ts';
import { listPartitionOf, newPetId } from './pet-id.ts';
import { type NewPet, Pet, type PetStatus } from '../contract/schemas.ts';
import { count } from '../telemetry.ts';

export const petFields = Object.keys(Pet.entries) as (keyof Pet)[];

/** A second draw is rare already. */
const MAX_ATTEMPTS = 20;

/** A pet as stored: the token of the request that made it, and the partition keys of the two indexes. */
interface PetItem extends Pet {
  creation: string;
  partition: string;
  statusPartition?: string;
}

/**
 * Stores a new pet under a free identifier.
 *
 * @param drawId generates an identifier, again when the one before is taken
 * @throws ApiError `service_unavailable` when no free identifier was found.
 */
export async function createPet(newPet: NewPet, generateId: () => bigint = newPetId): Promise<Pet> {
  return storeOnce(newPet, randomUUID(), () => generateId());
}

/**
 * Stores a new pet once for each token, and returns the same pet to retries, also of calls that were interrupted or are
 * still running.
 *
 * @param token see `tokenOf`
 * @throws ApiError `idempotency_key_reused` when the token stands for another pet.
 */
export async function createPetOnce(
  newPet: NewPet,
  token: string,
  generateId: () => bigint = newPetId,
): Promise<Pet> {
  return storeOnce(newPet, token, (taken) => claimPetId(token, newPet, generateId(), taken));
}

/**
 * Stores a pet. A retry of a write whose response was lost finds its identifier taken: `creation` tells the pet of this
 * very request from a collision.
 *
 * @param chooseId takes the identifier chosen before, if that turned out to be another pet's
 */
async function storeOnce(
  newPet: NewPet,
  creation: string,
  chooseId: (taken?: bigint) => bigint | Promise<bigint>,
): Promise<Pet> {
  let taken: bigint | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const pet: Pet = { id: await chooseId(taken), ...newPet };
    if (await putIfFree({ ...pet, creation, ...indexKeys(pet) })) {
      count(metrics.petsCreated, {});
      return pet;
    }
    if (await isCreatedBy(creation, pet.id)) return pet;
    taken = pet.id;
  }
  throw new ApiError('service_unavailable', 'No identifier could be assigned.');
}

/** The pet with this identifier, up to date to the last acknowledged write, or undefined. */
export async function getPet(id: bigint): Promise<Pet | undefined> {
  const item = await readPet(id);
  return item && toPet(item);
}

function putIfFree(item: PetItem): Promise<boolean> {
  return conditionHolds(
    database.send(
      new PutCommand({ TableName: petsTable(), Item: item, ConditionExpression: 'attribute_not_exists(id)' }),
    ),
  );
}

/** Whether the pet with this identifier, which is taken, was created by this request. */
async function isCreatedBy(creation: string, id: bigint): Promise<boolean> {
  const item = await readPet(id);
  // Nothing removes pets. Whatever is wrong, another identifier might make a second pet of this request.
  if (!item) throw new ApiError('service_unavailable');
  return item.creation === creation;
}

function readPet(id: bigint): Promise<PetItem | undefined> {
  return readItem<PetItem>(petsTable(), { id });
}

function indexKeys({ id, status }: Pet): Pick<PetItem, 'partition' | 'statusPartition'> {
  const partition = listPartitionOf(id, listPartitions());
  return { partition, ...(status && { statusPartition: statusPartition(status, partition) }) };
}

export function statusPartition(status: PetStatus, partition: string): string {
  return `${status}#${partition}`;
}

/** The members of a pet, in the order of its schema, without those that only storage has. */
export function toPet(item: Pet): Pet {
  const pet: Record<string, unknown> = {};
  for (const name of petFields) if (item[name] !== undefined) pet[name] = item[name];
  return pet as unknown as Pet;
}

export function petsTable(): string {
  return requireEnvironment(environmentVariables.petsTable);
}

export function listPartitions(): number {
  const partitions = Number(requireEnvironment(environmentVariables.listPartitions));
  // A list over no partition would be empty and look right.
  if (!Number.isInteger(partitions) || partitions < 1)
    throw new Error('LIST_PARTITIONS must be a positive integer.');
  return partitions;
}
