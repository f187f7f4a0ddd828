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

/** The list has each of these pets once, and none else that was asked for. */
async function expectListed(pets: Pet[], asked: NewPet[] = pets): Promise<void> {
  const list = await listPets({ limit: 100 });
  expect(list.next).toBeUndefined();
  const names = new Set(asked.map(({ name }) => name));
  expect(list.pets.filter(({ name }) => names.has(name))).toEqual(
    pets.toSorted((one, other) => (one.id > other.id ? -1 : 1)),
  );
}

/** Ends a request before its call to the database with this number, counted from 1. Returns how many calls it made. */
function endBefore(call: number): () => number {
  let calls = 0;
  database.send = (async (command: any) => {
    calls += 1;
    if (calls === call) throw new Error('The function ended here.');
    return send(command);
  }) as typeof database.send;
  return () => calls;
}

/** Leaves what a request leaves that ends between its intent and its pet. */
async function leaveIntent(generateId?: () => bigint): Promise<void> {
  endBefore(2);
  await expect(createPetOnce(newPet, token, generateId)).rejects.toThrow('The function ended here.');
  database.send = send;
}

/** Leaves an intent whose identifier another pet has taken since. */
async function leaveIntentForTakenId(): Promise<void> {
  const id = newPetId();
  await leaveIntent(() => id);
  await createPet({ name: 'another', categoryId: 1n }, () => id);
}

describe('a request that ended before any of its calls to the database, or after the last', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['the first of its token', async () => {}],
    ['after one that left only its intent', () => leaveIntent()],
    ['after one that succeeded', () => createPetOnce(newPet, token)],
    ['after one whose identifier another pet has', leaveIntentForTakenId],
  ])('is completed by its retry: %s', async (_what, prepare) => {
    const pets: Pet[] = [];
    for (let end = 1, isComplete = false; !isComplete; end += 1) {
      newPet = { name: randomUUID(), categoryId: BigInt(end) };
      token = randomUUID();
      await prepare();
      const calls = endBefore(end);
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

describe('requests with one token at the same time', () => {
  test.each([
    ['the first of their token', async () => {}],
    ['whose agreed identifier another pet has', leaveIntentForTakenId],
  ])('get the same pet: %s', async (_what, prepare) => {
    await prepare();
    const before = occurrences();
    const pets = await Promise.all(Array.from({ length: 10 }, () => createPetOnce(newPet, token)));
    expect(pets).toEqual(pets.map(() => ({ id: pets[0]!.id, ...newPet })));
    await expectListed([pets[0]!]);
    expect(occurrences()).toEqual([...before, counted('PetsCreated')]);
  });

  test('for two different pets get one of the two, or an error', async () => {
    const asked = newPets(2);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => createPetOnce(asked[index % 2]!, token)),
    );
    const pets = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(pets).toEqual(Array.from({ length: 5 }, () => pets[0]));
    const error = { status: 'rejected', reason: errorResponse('idempotency_key_reused') };
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual(pets.map(() => error));
    await expectListed([pets[0]!], asked);
  });
});

/** Has the intent of the token expire as if it was this much older. */
async function age(seconds: number): Promise<void> {
  await database.send(
    new UpdateCommand({
      TableName: process.env['INTENTS_TABLE'],
      Key: { token },
      UpdateExpression: 'ADD expiresAt :seconds',
      ExpressionAttributeValues: { ':seconds': -seconds },
    }),
  );
}

describe('a token', () => {
  test('stands for one pet for 24 hours, and then for another, even while its intent is in the table', async () => {
    const other: NewPet = { ...newPet, status: 'sold' };
    const first = await createPetOnce(newPet, token);
    await age(DAY_SECONDS - 60);
    expect(await createPetOnce(newPet, token)).toEqual(first);
    await expect(createPetOnce(other, token)).rejects.toEqual(errorResponse('idempotency_key_reused'));

    await age(120);
    const second = await createPetOnce(other, token);
    expect(await getPet(first.id)).toEqual(first);
    await age(DAY_SECONDS - 60);
    expect(await createPetOnce(other, token)).toEqual(second);
    await expectListed([first, second]);
  });
});

describe('creates that draw one identifier several times', () => {
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

  test('lose no pet and overwrite none', async () => {
    timesEachId = 2;
    const asked = newPets(12);
    const pets = await Promise.all(asked.map((pet) => createPet(pet, generateId)));
    expect(pets).toEqual(asked.map((pet) => ({ id: expect.any(BigInt), ...pet })));
    expect(generated).toBeGreaterThan(1.5 * asked.length);
    await expectListed(pets);
    expect(occurrences()).toEqual(asked.map(() => counted('PetsCreated')));
  });

  test('make one pet of each token, however often it is retried at the same time', async () => {
    timesEachId = 6; // by two tokens at least, of which one has to agree on another
    const asked = newPets(8);
    const responses = await Promise.all(
      asked.flatMap((pet) => {
        const create = () => createPetOnce(pet, `token of ${pet.name}`, generateId);
        return [create(), create(), create()];
      }),
    );
    expect(generated).toBeGreaterThan(responses.length);
    const pets = responses.filter((_, index) => index % 3 === 0);
    expect(responses).toEqual(pets.flatMap((pet) => [pet, pet, pet]));
    expect(pets).toEqual(asked.map((pet) => ({ id: expect.any(BigInt), ...pet })));
    await expectListed(pets);
    expect(occurrences()).toEqual(asked.map(() => counted('PetsCreated')));
  });

  test.each([
    ['without a token', createPet],
    ['with one', (pet: NewPet, draw: () => bigint) => createPetOnce(pet, pet.name, draw)],
  ])('get a 503 when none is free, have stored nothing, and may retry: %s', async (_what, create) => {
    const asked = newPets(2);
    const id = newPetId();
    const pet = await create(asked[0]!, () => id);
    await expect(create(asked[1]!, () => id)).rejects.toEqual(errorResponse('service_unavailable'));
    await expectListed([pet], asked);
    await expectListed([pet, await create(asked[1]!, newPetId)]);
  });
});
