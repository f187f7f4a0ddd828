import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { NewPet, Pet } from '../../shared/contract/schemas.ts';
import { database } from '../../shared/storage/database.ts';
import { type ScopedIdempotencyKey, tokenOf } from '../../shared/storage/intents.ts';
import { newId } from '../../shared/storage/ids.ts';
import { createPet, getPet } from '../../shared/storage/pets.ts';
import { listPets } from '../../shared/storage/pet-lists.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { errorResponse } from '../support/operations.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

useRealTables();

const DAY_SECONDS = 86_400;
const send = database.send.bind(database);

let newPet: NewPet;
let key: ScopedIdempotencyKey;
beforeEach(() => {
  [newPet] = newPets(1) as [NewPet];
  key = newKey();
});
afterEach(() => {
  database.send = send;
});

function newKey(idempotencyKey: string = randomUUID()): ScopedIdempotencyKey {
  return { keyId: 'key_1', idempotencyKey };
}

function newPets(count: number): NewPet[] {
  return Array.from({ length: count }, () => ({ name: randomUUID(), categoryId: 2n ** 63n - 1n }));
}

/** Expects the list to contain each pet in `pets` once and no other pet in `requested`. */
async function expectListed(pets: Pet[], requested: NewPet[] = pets): Promise<void> {
  const list = await listPets({ limit: 100 });
  expect(list.next).toBeUndefined();
  const names = new Set(requested.map(({ name }) => name));
  expect(list.pets.filter(({ name }) => names.has(name))).toEqual(
    pets.toSorted((one, other) => (one.id > other.id ? -1 : 1)),
  );
}

/** Makes the n-th database call fail. Returns a function that returns the number of calls so far. */
function interruptBefore(call: number): () => number {
  let calls = 0;
  database.send = (async (command: any) => {
    calls += 1;
    if (calls === call) throw new Error('The function was interrupted.');
    return send(command);
  }) as typeof database.send;
  return () => calls;
}

/** Stores an idempotency record without a pet, as an interrupted request does. */
async function leaveIntent(generateId?: () => bigint): Promise<void> {
  interruptBefore(2);
  await expect(createPet(newPet, key, generateId)).rejects.toThrow('The function was interrupted.');
  database.send = send;
}

/** Stores an idempotency record without its pet, and a different pet that has the id in the record. */
async function leaveIntentForTakenId(): Promise<void> {
  const id = newId();
  await leaveIntent(() => id);
  await createPet({ name: 'another', categoryId: 1n }, undefined, () => id);
}

describe('a request that was interrupted at any of its database calls', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['its idempotency key is new', async () => {}],
    ['an earlier attempt stored only the idempotency record', () => leaveIntent()],
    ['an earlier attempt succeeded', () => createPet(newPet, key)],
    ['a different pet has the id in the idempotency record', leaveIntentForTakenId],
  ])('is completed by a retry if %s', async (_case, prepare) => {
    const pets: Pet[] = [];
    for (let end = 1, isComplete = false; !isComplete; end += 1) {
      newPet = { name: randomUUID(), categoryId: BigInt(end) };
      key = newKey();
      await prepare();
      const calls = interruptBefore(end);
      const [outcome] = await Promise.allSettled([createPet(newPet, key)]);
      isComplete = calls() < end;
      expect(outcome?.status).toBe(isComplete ? 'fulfilled' : 'rejected');
      database.send = send;

      const pet = await createPet(newPet, key);
      expect(await createPet(newPet, key)).toEqual(pet);
      expect(await getPet(pet.id)).toEqual({ id: pet.id, ...newPet });
      pets.push(pet);
    }
    await expectListed(pets);
  });
});

describe('concurrent requests with the same idempotency key', () => {
  test.each([
    ['the key is new', async () => {}],
    ['a different pet has the id in the idempotency record', leaveIntentForTakenId],
  ])('get the same pet if %s', async (_case, prepare) => {
    await prepare();
    const before = occurrences();
    const pets = await Promise.all(Array.from({ length: 10 }, () => createPet(newPet, key)));
    expect(pets).toEqual(pets.map(() => ({ id: pets[0]!.id, ...newPet })));
    await expectListed([pets[0]!]);
    expect(occurrences()).toEqual([...before, counted('PetsCreated')]);
  });

  test('get the same pet or a 422 if they send two different pets', async () => {
    const requested = newPets(2);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => createPet(requested[index % 2]!, key)),
    );
    const pets = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    expect(pets).toEqual(Array.from({ length: 5 }, () => pets[0]));
    const error = { status: 'rejected', reason: errorResponse('idempotency_key_reused') };
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual(pets.map(() => error));
    await expectListed([pets[0]!], requested);
  });
});

/** Makes the idempotency record expire the given number of seconds earlier. */
async function expireSooner(seconds: number): Promise<void> {
  await database.send(
    new UpdateCommand({
      TableName: process.env['INTENTS_TABLE'],
      Key: { token: tokenOf('createPet', key) },
      UpdateExpression: 'ADD expiresAt :seconds',
      ExpressionAttributeValues: { ':seconds': -seconds },
    }),
  );
}

test('an idempotency key can be used for a new pet after 24 hours even if its record is still stored', async () => {
  const other: NewPet = { ...newPet, status: 'sold' };
  const first = await createPet(newPet, key);
  await expireSooner(DAY_SECONDS - 60);
  expect(await createPet(newPet, key)).toEqual(first);
  await expect(createPet(other, key)).rejects.toEqual(errorResponse('idempotency_key_reused'));

  await expireSooner(120);
  const second = await createPet(other, key);
  expect(await getPet(first.id)).toEqual(first);
  await expireSooner(DAY_SECONDS - 60);
  expect(await createPet(other, key)).toEqual(second);
  await expectListed([first, second]);
});

function repeatingIds(timesEachId: number) {
  const firstId = newId();
  let generated = 0;
  const generateId = () => firstId + BigInt(Math.floor((generated += 1) / timesEachId));
  return { generateId, generated: () => generated };
}

describe('creates that generate the same id several times', () => {
  test('store each pet with a different id', async () => {
    const { generateId, generated } = repeatingIds(2);
    const requested = newPets(12);
    const pets = await Promise.all(requested.map((pet) => createPet(pet, undefined, generateId)));
    expect(pets).toEqual(requested.map((pet) => ({ id: expect.any(BigInt), ...pet })));
    expect(generated()).toBeGreaterThan(1.5 * requested.length);
    await expectListed(pets);
    expect(occurrences()).toEqual(requested.map(() => counted('PetsCreated')));
  });

  test('create one pet for each idempotency key despite concurrent retries', async () => {
    const { generateId, generated } = repeatingIds(6); // At least two idempotency keys share each id.
    const requested = newPets(8);
    const responses = await Promise.all(
      requested.flatMap((pet) => {
        const create = () => createPet(pet, newKey(pet.name), generateId);
        return [create(), create(), create()];
      }),
    );
    expect(generated()).toBeGreaterThan(responses.length);
    const pets = responses.filter((_, index) => index % 3 === 0);
    expect(responses).toEqual(pets.flatMap((pet) => [pet, pet, pet]));
    expect(pets).toEqual(requested.map((pet) => ({ id: expect.any(BigInt), ...pet })));
    await expectListed(pets);
    expect(occurrences()).toEqual(requested.map(() => counted('PetsCreated')));
  });

  test.each([
    ['without', () => undefined],
    ['with', newKey],
  ])('get a 503 if no id is free (%s an idempotency key)', async (_case, keyFor) => {
    const create = (pet: NewPet, getId: () => bigint) => createPet(pet, keyFor(pet.name), getId);
    const requested = newPets(2);
    const id = newId();
    const pet = await create(requested[0]!, () => id);
    await expect(create(requested[1]!, () => id)).rejects.toEqual(errorResponse('service_unavailable'));
    await expectListed([pet], requested);
    await expectListed([pet, await create(requested[1]!, newId)]);
  });
});
