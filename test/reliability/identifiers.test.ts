import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { randomInt, randomUUID } from 'node:crypto';
import { database } from '../../shared/storage/database.ts';
import { ApiError } from '../../shared/contract/errors.ts';
import { newPetId } from '../../shared/storage/pet-id.ts';
import { createPet, createPetOnce, listPets } from '../../shared/storage/pets.ts';
import type { NewPet, Pet } from '../../shared/contract/schemas.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

useRealTables();

const WRITERS = 50;
const IDS_PER_MILLISECOND = 2 ** 4;

let send: jest.SpiedFunction<typeof database.send>;

let now = Date.now();
let drawsThisMillisecond = 0;
let drawsPerMillisecond = 0;

/** An identifier whose random part is cut to 4 bits, by a clock that goes on with the draws alone. */
function drawId(): bigint {
  drawsThisMillisecond += 1;
  if (drawsThisMillisecond > drawsPerMillisecond) passMillisecond();
  return newPetId(now, randomInt(IDS_PER_MILLISECOND));
}

function passMillisecond(): void {
  now += 1;
  drawsThisMillisecond = 0;
}

beforeEach(() => {
  passMillisecond();
  drawsPerMillisecond = 2 * IDS_PER_MILLISECOND;
  send = jest.spyOn(database, 'send');
});

/** The writes so far into this table: each try, whether its condition held or not. */
function writes(table: 'PETS_TABLE' | 'INTENTS_TABLE'): Record<string, any>[] {
  return send.mock.calls
    .map(([{ input }]) => input as Record<string, any>)
    .filter(({ TableName, Item }) => Item && TableName === process.env[table]);
}

function newPets(count: number): NewPet[] {
  return Array.from({ length: count }, () => ({ name: randomUUID(), categoryId: -(2n ** 63n) }));
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'service_unavailable';
}

/** Repeats what is refused, as a client does. */
async function untilAnswered(create: () => Promise<Pet>): Promise<Pet> {
  for (;;) {
    try {
      return await create();
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
}

function byId(pets: Pet[]): Pet[] {
  return pets.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** These are in the table and in the list of all pets, of what was asked for each once and nothing else. */
async function expectStored(pets: Pet[], asked: NewPet[]): Promise<void> {
  const names = new Set(asked.map(({ name }) => name));
  const { Items = [] } = await database.send(new ScanCommand({ TableName: process.env['PETS_TABLE'] }));
  const stored = Items.filter(({ name }) => names.has(name));
  expect(byId(stored as Pet[])).toMatchObject(byId(pets));
  const listed: Pet[] = [];
  for (let cursor: bigint | undefined, isMore = true; isMore;) {
    const page = await listPets({ limit: 100, ...(cursor && { cursor }) });
    listed.push(...page.pets);
    cursor = page.next;
    isMore = cursor !== undefined;
  }
  expect(byId(listed.filter(({ name }) => names.has(name)))).toEqual(byId(pets));
}

describe('50 writers at a time who draw of 16 identifiers a millisecond', () => {
  test('lose no pet and overwrite none', async () => {
    const asked = newPets(WRITERS * 3);
    const queue = [...asked];
    const pets: Pet[] = [];
    async function write(): Promise<void> {
      for (let newPet = queue.pop(); newPet; newPet = queue.pop()) {
        const wanted = newPet;
        const pet = await untilAnswered(() => createPet(wanted, drawId));
        expect(pet).toEqual({ id: expect.any(BigInt), ...newPet });
        pets.push(pet);
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, write));
    // Otherwise nobody met anybody.
    expect(writes('PETS_TABLE').length).toBeGreaterThan(1.5 * asked.length);
    expect(new Set(pets.map(({ id }) => id)).size).toBe(asked.length);
    await expectStored(pets, asked);
    expect(occurrences()).toEqual(asked.map(() => counted('PetsCreated')));
  });

  test('make one pet of each token, however often they repeat it at the same time', async () => {
    const asked = newPets(WRITERS);
    const answers = await Promise.all(
      asked.map((newPet) =>
        Promise.all(
          Array.from({ length: 3 }, () =>
            untilAnswered(() => createPetOnce(newPet, `token of ${newPet.name}`, drawId)),
          ),
        ),
      ),
    );
    const pets = answers.map(([pet]) => pet!);
    expect(pets).toEqual(asked.map((newPet) => ({ id: expect.any(BigInt), ...newPet })));
    expect(answers).toEqual(pets.map((pet) => [pet, pet, pet]));
    // Those who had agreed on an identifier that another had taken agreed anew.
    const agreedAnew = writes('INTENTS_TABLE').filter((put) => ':taken' in put['ExpressionAttributeValues']);
    expect(agreedAnew.length).toBeGreaterThan(WRITERS / 4);
    await expectStored(
      answers.map(([pet]) => pet!),
      asked,
    );
    expect(occurrences()).toEqual(asked.map(() => counted('PetsCreated')));
  });
});

describe('writers who find no identifier free', () => {
  beforeEach(() => {
    drawsPerMillisecond = Infinity;
  });

  test.each([
    ['without a token', createPet],
    ['with one', (newPet: NewPet, draw: () => bigint) => createPetOnce(newPet, newPet.name, draw)],
  ])('are refused, have stored nothing, and may repeat it: %s', async (_what, create) => {
    const asked = newPets(IDS_PER_MILLISECOND + 4);
    const outcomes = await Promise.allSettled(asked.map((newPet) => create(newPet, drawId)));
    const pets = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const refusals = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    const refused = asked.filter((_, index) => outcomes[index]?.status === 'rejected');
    expect(refusals.length).toBeGreaterThanOrEqual(4);
    expect(refusals.every(isRefusal)).toBe(true);
    await expectStored(pets, asked);

    drawsPerMillisecond = IDS_PER_MILLISECOND;
    passMillisecond();
    pets.push(...(await Promise.all(refused.map((newPet) => untilAnswered(() => create(newPet, drawId))))));
    expect(pets).toHaveLength(asked.length);
    await expectStored(pets, asked);
  });
});
