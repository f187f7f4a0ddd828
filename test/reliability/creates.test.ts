import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { NewPet, Pet } from '../../shared/contract/schemas.ts';
import { database } from '../../shared/storage/database.ts';
import { newPetId } from '../../shared/storage/pet-id.ts';
import { createPet, createPetOnce, getPet } from '../../shared/storage/pets.ts';
import { listPets } from '../../shared/storage/pet-lists.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { errorResponse } from '../support/operations.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

useRealTables();

const DAY_SECONDS = 86_400;
const send = database.send.bind(database);

let newPet: NewPet;
let token: string;
beforeEach(() => {
  [newPet] = newPets(1) as [NewPet];
  token = randomUUID();
});
afterEach(() => {
  database.send = send;
});

function newPets(count: number): NewPet[] {
  return Array.from({ length: count }, () => ({ name: randomUUID(), categoryId: 2n ** 63n - 1n }));
}

/** Expects that the list has each of these pets once, and no other requested pet. */
async function expectListed(pets: Pet[], requested: NewPet[] = pets): Promise<void> {
  const list = await listPets({ limit: 100 });
  expect(list.next).toBeUndefined();
  const names = new Set(requested.map(({ name }) => name));
  expect(list.pets.filter(({ name }) => names.has(name))).toEqual(
    pets.toSorted((one, other) => (one.id > other.id ? -1 : 1)),
  );
}

/** Interrupts a request before its n-th database call. @returns a function that returns the number of calls */
function interruptBefore(call: number): () => number {
  let calls = 0;
  database.send = (async (command: any) => {
    calls += 1;
    if (calls === call) throw new Error('The function ended here.');
    return send(command);
  }) as typeof database.send;
  return () => calls;
}

/** Stores an idempotency record without a pet, as an interrupted request does. */
async function leaveIntent(generateId?: () => bigint): Promise<void> {
  interruptBefore(2);
  await expect(createPetOnce(newPet, token, generateId)).rejects.toThrow('The function ended here.');
  database.send = send;
}

/** Stores an idempotency record without a pet, and another pet with the id in the record. */
async function leaveIntentForTakenId(): Promise<void> {
  const id = newPetId();
  await leaveIntent(() => id);
  await createPet({ name: 'another', categoryId: 1n }, () => id);
}

describe('a request that was interrupted before any of its database calls, or after the last one', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['as the first request with its idempotency key', async () => {}],
    ['after a request that stored only its idempotency record', () => leaveIntent()],
    ['after a request that succeeded', () => createPetOnce(newPet, token)],
    ['after a request whose id another pet took', leaveIntentForTakenId],
  ])('is completed by its retry %s', async (_case, prepare) => {
    const pets: Pet[] = [];
    for (let end = 1, isComplete = false; !isComplete; end += 1) {
      newPet = { name: randomUUID(), categoryId: BigInt(end) };
      token = randomUUID();
      await prepare();
      const calls = interruptBefore(end);
      const [outcome] = await Promise.allSettled([createPetOnce(newPet, token)]);
      isComplete = calls() < end;
      expect(outcome?.status).toBe(isComplete ? 'fulfilled' : 'rejected');
      database.send = send;

      const pet = await createPetOnce(newPet, token);
      expect(await createPetOnce(newPet, token)).toEqual(pet);
      expect(await getPet(pet.id)).toEqual({ id: pet.id, ...newPet });
      pets.push(pet);
    }
    await expectListed(pets);
  });
});

describe('concurrent requests with the same idempotency key', () => {
  test.each([
    ['as the first requests with the key', async () => {}],
    ['if another pet has the id in the idempotency record', leaveIntentForTakenId],
  ])('get the same pet %s', async (_case, prepare) => {
    await prepare();
    const before = occurrences();
    const pets = await Promise.all(Array.from({ length: 10 }, () => createPetOnce(newPet, token)));
    expect(pets).toEqual(pets.map(() => ({ id: pets[0]!.id, ...newPet })));
    await expectListed([pets[0]!]);
    expect(occurrences()).toEqual([...before, counted('PetsCreated')]);
  });

  test('get the same pet or a 422 if they contain two different pets', async () => {
    const requested = newPets(2);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => createPetOnce(requested[index % 2]!, token)),
    );
    const pets = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(pets).toEqual(Array.from({ length: 5 }, () => pets[0]));
    const error = { status: 'rejected', reason: errorResponse('idempotency_key_reused') };
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual(pets.map(() => error));
    await expectListed([pets[0]!], requested);
  });
});

/** Makes the idempotency record expire this many seconds earlier. */
async function expireSooner(seconds: number): Promise<void> {
  await database.send(
    new UpdateCommand({
      TableName: process.env['INTENTS_TABLE'],
      Key: { token },
      UpdateExpression: 'ADD expiresAt :seconds',
      ExpressionAttributeValues: { ':seconds': -seconds },
    }),
  );
}

describe('an idempotency key', () => {
  test('belongs to one pet for 24 hours, and then to a new pet even if its record is still stored', async () => {
    const other: NewPet = { ...newPet, status: 'sold' };
    const first = await createPetOnce(newPet, token);
    await expireSooner(DAY_SECONDS - 60);
    expect(await createPetOnce(newPet, token)).toEqual(first);
    await expect(createPetOnce(other, token)).rejects.toEqual(errorResponse('idempotency_key_reused'));

    await expireSooner(120);
    const second = await createPetOnce(other, token);
    expect(await getPet(first.id)).toEqual(first);
    await expireSooner(DAY_SECONDS - 60);
    expect(await createPetOnce(other, token)).toEqual(second);
    await expectListed([first, second]);
  });
});

describe('creates that generate the same id several times', () => {
  let generated: number;
  let timesEachId: number;
  let firstId: bigint;
  beforeEach(() => {
    generated = 0;
    firstId = newPetId();
  });

  function generateId(): bigint {
    return firstId + BigInt(Math.floor((generated += 1) / timesEachId));
  }

  test('neither lose nor overwrite a pet', async () => {
    timesEachId = 2;
    const requested = newPets(12);
    const pets = await Promise.all(requested.map((pet) => createPet(pet, generateId)));
    expect(pets).toEqual(requested.map((pet) => ({ id: expect.any(BigInt), ...pet })));
    expect(generated).toBeGreaterThan(1.5 * requested.length);
    await expectListed(pets);
    expect(occurrences()).toEqual(requested.map(() => counted('PetsCreated')));
  });

  test('create one pet for each idempotency key despite concurrent retries', async () => {
    timesEachId = 6; // At least two idempotency keys share each id.
    const requested = newPets(8);
    const responses = await Promise.all(
      requested.flatMap((pet) => {
        const create = () => createPetOnce(pet, `token of ${pet.name}`, generateId);
        return [create(), create(), create()];
      }),
    );
    expect(generated).toBeGreaterThan(responses.length);
    const pets = responses.filter((_, index) => index % 3 === 0);
    expect(responses).toEqual(pets.flatMap((pet) => [pet, pet, pet]));
    expect(pets).toEqual(requested.map((pet) => ({ id: expect.any(BigInt), ...pet })));
    await expectListed(pets);
    expect(occurrences()).toEqual(requested.map(() => counted('PetsCreated')));
  });

  test.each([
    ['without an idempotency key', createPet],
    ['with an idempotency key', (pet: NewPet, getId: () => bigint) => createPetOnce(pet, pet.name, getId)],
  ])('%s get a 503 and store nothing if no id is free, and can be retried', async (_case, create) => {
    const requested = newPets(2);
    const id = newPetId();
    const pet = await create(requested[0]!, () => id);
    await expect(create(requested[1]!, () => id)).rejects.toEqual(errorResponse('service_unavailable'));
    await expectListed([pet], requested);
    await expectListed([pet, await create(requested[1]!, newPetId)]);
  });
});
