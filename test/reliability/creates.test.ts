import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { PAGE } from '../../shared/contract/limits.ts';
import { createdMetric } from '../../shared/names.ts';
import { database, UnavailableError } from '../../shared/storage/database.ts';
import { tokenOf } from '../../shared/storage/idempotency.ts';
import { newId } from '../../shared/storage/ids.ts';
import * as storage from '../../shared/storage/collection.ts';
import { list } from '../../shared/storage/lists.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { validPet } from '../support/sample.ts';
import { type NewPet, type Pet, pets as collection } from '../../shared/contract/pets.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

useRealTables();

/** 24 hours. */
const EXPIRY_SECONDS = 86_400;
const send = database.send.bind(database) as (command: unknown) => Promise<unknown>;

const create = (newPet: NewPet, requestToken?: string, generateId?: () => bigint) =>
  storage.create(collection, newPet, requestToken, generateId);

let newPet: NewPet;
let token: string;
beforeEach(() => {
  newPet = generateNewPet();
  token = newToken();
});

function newToken(idempotencyKey: string = randomUUID()): string {
  return tokenOf('createPet', 'key_1', idempotencyKey);
}

function generateNewPet(): NewPet {
  return { ...validPet, name: randomUUID() };
}

/** Expects the list to contain each of `pets` once, newest first, and no other pet in `requested`. */
async function expectListed(pets: Pet[], requested: NewPet[] = pets): Promise<void> {
  const { items: listed, next } = await list(collection, { limit: PAGE.maximum, filters: {} });
  expect(next).toBeUndefined();
  const names = new Set(requested.map((pet) => pet.name));
  const newestFirst = pets.toSorted((one, other) => (one.id > other.id ? -1 : 1));
  expect(listed.filter((pet) => names.has(pet.name))).toEqual(newestFirst);
}

/** Makes the database call with this number fail (the first is 1). Returns the mock, which records the calls. */
function interruptBefore(call: number) {
  const calls = jest.spyOn(database, 'send');
  return calls.mockImplementation(async (command) => {
    if (calls.mock.calls.length === call) throw new Error('The function was interrupted.');
    return send(command);
  });
}

/** Stores an idempotency record without a pet, as an interrupted request does. */
async function leaveRecord(generateId?: () => bigint): Promise<void> {
  const calls = interruptBefore(2);
  await expect(create(newPet, token, generateId)).rejects.toThrow('The function was interrupted.');
  calls.mockRestore();
}

/** Stores an idempotency record without its pet, and a different pet that has the id in the record. */
async function leaveRecordForTakenId(): Promise<void> {
  const id = newId();
  await leaveRecord(() => id);
  await create(generateNewPet(), undefined, () => id);
}

test.each<[string, () => Promise<unknown>]>([
  ['its idempotency key is new', async () => {}],
  ['an earlier attempt stored only the idempotency record', () => leaveRecord()],
  ['an earlier attempt succeeded', () => create(newPet, token)],
  ['a different pet has the id in the idempotency record', leaveRecordForTakenId],
])('a retry completes an interrupted request if %s', async (_case, prepare) => {
  const pets: Pet[] = [];
  // Interrupts one request before call 1, one before call 2, and so on, until a request completes.
  for (let end = 1, isComplete = false; !isComplete; end += 1) {
    newPet = generateNewPet();
    token = newToken();
    await prepare();
    const calls = interruptBefore(end);
    const [outcome] = await Promise.allSettled([create(newPet, token)]);
    isComplete = calls.mock.calls.length < end;
    expect(outcome?.status).toBe(isComplete ? 'fulfilled' : 'rejected');
    calls.mockRestore();

    const pet = (await create(newPet, token))!;
    expect(await create(newPet, token)).toEqual(pet);
    expect(await storage.get(collection, pet.id)).toEqual({ id: pet.id, ...newPet });
    pets.push(pet);
  }
  await expectListed(pets);
});

describe('concurrent requests with the same idempotency key', () => {
  test.each([
    ['the key is new', async () => {}],
    ['a different pet has the id in the idempotency record', leaveRecordForTakenId],
  ])('get the same pet if %s', async (_case, prepare) => {
    await prepare();
    const before = occurrences();
    const pets = (await Promise.all(Array.from({ length: 10 }, () => create(newPet, token)))) as Pet[];
    expect(pets).toEqual(pets.map(() => ({ id: pets[0]!.id, ...newPet })));
    await expectListed([pets[0]!]);
    expect(occurrences()).toEqual([...before, counted(createdMetric(collection).name)]);
  });

  test('create only one pet if they request two different pets', async () => {
    const requested = [generateNewPet(), generateNewPet()];
    const creates = Array.from({ length: 10 }, (_, index) => create(requested[index % 2]!, token));
    const pets = (await Promise.all(creates)).filter((pet) => pet !== undefined);
    expect(pets).toEqual(Array.from({ length: 5 }, () => pets[0]));
    await expectListed([pets[0]!], requested);
  });
});

/** Makes the idempotency record expire the given number of seconds earlier. */
async function expireSooner(seconds: number): Promise<void> {
  await database.send(
    new UpdateCommand({
      TableName: process.env['IDEMPOTENCY_TABLE'],
      Key: { token },
      UpdateExpression: 'ADD expiresAt :seconds',
      ExpressionAttributeValues: { ':seconds': -seconds },
    }),
  );
}

test('an idempotency key can be used for a new pet after 24 hours even if its record is still stored', async () => {
  const other = generateNewPet();
  const first = (await create(newPet, token))!;
  await expireSooner(EXPIRY_SECONDS - 60);
  expect(await create(newPet, token)).toEqual(first);
  expect(await create(other, token)).toBeUndefined();

  await expireSooner(120);
  const second = (await create(other, token))!;
  expect(await storage.get(collection, first.id)).toEqual(first);
  await expireSooner(EXPIRY_SECONDS - 60);
  expect(await create(other, token)).toEqual(second);
  await expectListed([first, second]);
});

describe('creates that generate the same id several times', () => {
  test.each([
    ['they have no idempotency key', 1, () => undefined],
    ['three concurrent requests for each pet have the same idempotency key', 3, newToken],
  ])('store each pet with a different id if %s', async (_case, attempts, tokenFor) => {
    const firstId = newId();
    const generateId = jest.fn<() => bigint>();
    // Repeats ids, so that creates of different pets generate the same id.
    generateId.mockImplementation(
      () => firstId + BigInt(Math.floor(generateId.mock.calls.length / (2 * attempts))),
    );
    const requested = Array.from({ length: 8 }, generateNewPet);
    const responses = await Promise.all(
      requested
        .flatMap((pet) => Array<NewPet>(attempts).fill(pet))
        .map((pet) => create(pet, tokenFor(pet.name), generateId)),
    );
    expect(generateId.mock.calls.length).toBeGreaterThan(responses.length);
    const pets = responses.filter((_, index) => index % attempts === 0) as Pet[];
    expect(responses).toEqual(pets.flatMap((pet) => Array<Pet>(attempts).fill(pet)));
    expect(pets).toEqual(requested.map((pet) => ({ id: expect.any(BigInt), ...pet })));
    await expectListed(pets);
    expect(occurrences()).toEqual(requested.map(() => counted(createdMetric(collection).name)));
  });

  test('throw an UnavailableError if all generated ids are taken, and succeed when retried', async () => {
    const other = generateNewPet();
    const id = newId();
    const stored = (await create(other, undefined, () => id))!;
    await expect(create(newPet, token, () => id)).rejects.toThrow(UnavailableError);
    await expectListed([stored], [other, newPet]);
    await expectListed([stored, (await create(newPet, token))!]);
  });
});
