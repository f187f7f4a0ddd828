import { ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { database } from '../../shared/storage/database.ts';
import { newPetId } from '../../shared/storage/pet-id.ts';
import { createPet, createPetOnce, getPet } from '../../shared/storage/pets.ts';
import type { NewPet, Pet } from '../../shared/contract/schemas.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { refused } from '../support/invoke.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

useRealTables();

const DAY_SECONDS = 86_400;

let newPet: NewPet;
let token: string;

beforeEach(() => {
  newPet = { name: randomUUID(), categoryId: 2n ** 63n - 1n };
  token = randomUUID();
});

const send = database.send.bind(database);
afterEach(() => {
  database.send = send;
});

/** Ends a request at its call to the database with this number, counted from 1; gives how many calls there were. */
function endAt(call: number, { isExecuted }: { isExecuted: boolean }): () => number {
  let calls = 0;
  database.send = (async (command: any) => {
    calls += 1;
    if (calls !== call) return send(command);
    if (isExecuted) await send(command).catch(() => {});
    throw new Error('The function ended here.');
  }) as typeof database.send;
  return () => calls;
}

/** Leaves of a request what it leaves when it ends between its intent and its pet. */
async function leaveIntent(drawId?: () => bigint): Promise<void> {
  endAt(2, { isExecuted: false });
  await expect(createPetOnce(newPet, token, drawId)).rejects.toThrow('The function ended here.');
  database.send = send;
}

/** Leaves an intent whose identifier another pet has got meanwhile. */
async function leaveIntentOfTakenId(): Promise<void> {
  const id = newPetId();
  await leaveIntent(() => id);
  await createPet({ name: 'another', categoryId: 1n }, () => id);
}

/** The pets that were stored under these names. */
async function stored(...names: string[]): Promise<Pet[]> {
  const { Items = [] } = await database.send(new ScanCommand({ TableName: process.env['PETS_TABLE'] }));
  return (Items as Pet[]).filter(({ name }) => names.includes(name));
}

/** Lets so many seconds pass for the intent of the token, and gives it. */
async function age(seconds: number): Promise<Record<string, any>> {
  const { Attributes } = await database.send(
    new UpdateCommand({
      TableName: process.env['INTENTS_TABLE'],
      Key: { token },
      UpdateExpression: 'ADD expiresAt :seconds',
      ExpressionAttributeValues: { ':seconds': -seconds },
      ReturnValues: 'ALL_NEW',
    }),
  );
  return Attributes!;
}

describe('a request that ended at any of its calls to the database', () => {
  const situations: [string, () => Promise<unknown>][] = [
    ['the first of its token', async () => {}],
    ['after one that left only its intent', () => leaveIntent()],
    ['after one that succeeded', () => createPetOnce(newPet, token)],
    ['after one whose identifier another pet has', leaveIntentOfTakenId],
  ];

  describe.each(situations)('%s', (_what, prepare) => {
    test.each([
      ['before', false],
      ['after', true],
    ])('is healed by its repetition, ended %s the call was executed', async (_when, isExecuted) => {
      for (let end = 1, isThrough = false; !isThrough; end += 1) {
        newPet = { name: randomUUID(), categoryId: BigInt(end) };
        token = randomUUID();
        await prepare();
        const calls = endAt(end, { isExecuted });
        const [outcome] = await Promise.allSettled([createPetOnce(newPet, token)]);
        isThrough = calls() < end;
        expect(outcome?.status).toBe(isThrough ? 'fulfilled' : 'rejected');
        database.send = send;

        const pet = await createPetOnce(newPet, token);
        expect(await createPetOnce(newPet, token)).toEqual(pet);
        expect(await getPet(pet.id)).toEqual({ id: pet.id, ...newPet });
        expect(await stored(newPet.name)).toHaveLength(1);
      }
    });
  });
});

describe('requests with one token at the same time', () => {
  test.each([
    ['the first of their token', async () => {}],
    ['whose agreed identifier another pet has', leaveIntentOfTakenId],
  ])('get the same pet: %s', async (_what, prepare) => {
    await prepare();
    const before = occurrences();
    const pets = await Promise.all(Array.from({ length: 20 }, () => createPetOnce(newPet, token)));
    expect(pets).toEqual(pets.map(() => ({ id: pets[0]!.id, ...newPet })));
    expect(await stored(newPet.name)).toMatchObject([pets[0]!]);
    expect(occurrences()).toEqual([...before, counted('PetsCreated')]);
  });

  test('for two different pets get one of the two, and are refused the other', async () => {
    const other = { ...newPet, name: randomUUID() };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => createPetOnce(index % 2 === 0 ? newPet : other, token)),
    );
    const pets = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(pets).toEqual(Array.from({ length: 10 }, () => pets[0]));
    expect(refusals).toEqual(Array.from({ length: 10 }, () => refused('idempotency_key_reused')));
    expect(await stored(newPet.name, other.name)).toMatchObject([pets[0]!]);
  });
});

describe('a token', () => {
  test('is recognised until its intent expires', async () => {
    const pet = await createPetOnce(newPet, token);
    await age(DAY_SECONDS - 60);
    expect(await createPetOnce(newPet, token)).toEqual(pet);
    const another = createPetOnce({ ...newPet, name: 'another' }, token);
    await expect(another).rejects.toEqual(refused('idempotency_key_reused'));
  });

  test('means another request afterwards, even while the intent is still in the table', async () => {
    const pet = await createPetOnce(newPet, token);
    const { fingerprint } = await age(DAY_SECONDS + 60);
    const another = await createPetOnce({ ...newPet, status: 'sold' }, token);
    expect(another.id).not.toBe(pet.id);
    expect(await getPet(pet.id)).toEqual(pet);
    const intent = await age(0);
    expect(intent).toMatchObject({ token, petId: another.id });
    expect(intent['fingerprint']).not.toBe(fingerprint);
    expect(Number(intent['expiresAt'])).toBeGreaterThan(Date.now() / 1_000 + DAY_SECONDS - 3_600);
  });
});
