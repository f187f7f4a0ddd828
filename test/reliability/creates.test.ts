import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { IDEMPOTENCY_HOURS, PAGE } from '../../shared/contract/limits.ts';
import { metrics } from '../../shared/names.ts';
import { database, UnavailableError } from '../../shared/storage/database.ts';
import { tokenOf } from '../../shared/storage/idempotency.ts';
import { newId } from '../../shared/storage/ids.ts';
import { createPet as create, getPet as read } from '../../shared/storage/pets.ts';
import { listPets as list } from '../../shared/storage/pet-lists.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { create as operation, type Item, type NewItem, textField, validInput } from '../support/sample.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

useRealTables();

const EXPIRY_SECONDS = IDEMPOTENCY_HOURS * 3_600;
const send = database.send.bind(database) as (command: unknown) => Promise<unknown>;

let newItem: NewItem;
let token: string;
beforeEach(() => {
  newItem = generateItem();
  token = newToken();
});

function newToken(idempotencyKey: string = randomUUID()): string {
  return tokenOf(operation.id, 'key_1', idempotencyKey);
}

function generateItem(): NewItem {
  return { ...validInput, [textField]: randomUUID() };
}

/** Expects the list to contain each of `items` once, newest first, and no other item in `requested`. */
async function expectListed(items: Item[], requested: NewItem[] = items): Promise<void> {
  const { pets: listed, next } = await list({ limit: PAGE.maximum, filters: {} });
  expect(next).toBeUndefined();
  const texts = new Set(requested.map((item) => item[textField]));
  const newestFirst = items.toSorted((one, other) => (one.id > other.id ? -1 : 1));
  expect(listed.filter((item) => texts.has(item[textField]))).toEqual(newestFirst);
}

/** Makes the database call with this number fail (the first is 1). Returns the mock, which records the calls. */
function interruptBefore(call: number) {
  const calls = jest.spyOn(database, 'send');
  return calls.mockImplementation(async (command) => {
    if (calls.mock.calls.length === call) throw new Error('The function was interrupted.');
    return send(command);
  });
}

/** Stores an idempotency record without an item, as an interrupted request does. */
async function leaveRecord(generateId?: () => bigint): Promise<void> {
  const calls = interruptBefore(2);
  await expect(create(newItem, token, generateId)).rejects.toThrow('The function was interrupted.');
  calls.mockRestore();
}

/** Stores an idempotency record without its item, and a different item that has the id in the record. */
async function leaveRecordForTakenId(): Promise<void> {
  const id = newId();
  await leaveRecord(() => id);
  await create(generateItem(), undefined, () => id);
}

test.each<[string, () => Promise<unknown>]>([
  ['its idempotency key is new', async () => {}],
  ['an earlier attempt stored only the idempotency record', () => leaveRecord()],
  ['an earlier attempt succeeded', () => create(newItem, token)],
  ['a different item has the id in the idempotency record', leaveRecordForTakenId],
])('a retry completes an interrupted request if %s', async (_case, prepare) => {
  const items: Item[] = [];
  // Interrupts one request before call 1, one before call 2, and so on, until a request completes.
  for (let end = 1, isComplete = false; !isComplete; end += 1) {
    newItem = generateItem();
    token = newToken();
    await prepare();
    const calls = interruptBefore(end);
    const [outcome] = await Promise.allSettled([create(newItem, token)]);
    isComplete = calls.mock.calls.length < end;
    expect(outcome?.status).toBe(isComplete ? 'fulfilled' : 'rejected');
    calls.mockRestore();

    const item = (await create(newItem, token))!;
    expect(await create(newItem, token)).toEqual(item);
    expect(await read(item.id)).toEqual({ id: item.id, ...newItem });
    items.push(item);
  }
  await expectListed(items);
});

describe('concurrent requests with the same idempotency key', () => {
  test.each([
    ['the key is new', async () => {}],
    ['a different item has the id in the idempotency record', leaveRecordForTakenId],
  ])('get the same item if %s', async (_case, prepare) => {
    await prepare();
    const before = occurrences();
    const items = (await Promise.all(Array.from({ length: 10 }, () => create(newItem, token)))) as Item[];
    expect(items).toEqual(items.map(() => ({ id: items[0]!.id, ...newItem })));
    await expectListed([items[0]!]);
    expect(occurrences()).toEqual([...before, counted(metrics.petsCreated.name)]);
  });

  test('create only one item if they request two different items', async () => {
    const requested = [generateItem(), generateItem()];
    const creates = Array.from({ length: 10 }, (_, index) => create(requested[index % 2]!, token));
    const items = (await Promise.all(creates)).filter((item) => item !== undefined);
    expect(items).toEqual(Array.from({ length: 5 }, () => items[0]));
    await expectListed([items[0]!], requested);
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

test('an idempotency key can be used for a new item after 24 hours even if its record is still stored', async () => {
  const other = generateItem();
  const first = (await create(newItem, token))!;
  await expireSooner(EXPIRY_SECONDS - 60);
  expect(await create(newItem, token)).toEqual(first);
  expect(await create(other, token)).toBeUndefined();

  await expireSooner(120);
  const second = (await create(other, token))!;
  expect(await read(first.id)).toEqual(first);
  await expireSooner(EXPIRY_SECONDS - 60);
  expect(await create(other, token)).toEqual(second);
  await expectListed([first, second]);
});

describe('creates that generate the same id several times', () => {
  test.each([
    ['they have no idempotency key', 1, () => undefined],
    ['three concurrent requests for each item have the same idempotency key', 3, newToken],
  ])('store each item with a different id if %s', async (_case, attempts, tokenFor) => {
    const firstId = newId();
    const generateId = jest.fn<() => bigint>();
    // Repeats ids, so that creates of different items generate the same id.
    generateId.mockImplementation(
      () => firstId + BigInt(Math.floor(generateId.mock.calls.length / (2 * attempts))),
    );
    const requested = Array.from({ length: 8 }, generateItem);
    const responses = await Promise.all(
      requested
        .flatMap((item) => Array<NewItem>(attempts).fill(item))
        .map((item) => create(item, tokenFor(item[textField]), generateId)),
    );
    expect(generateId.mock.calls.length).toBeGreaterThan(responses.length);
    const items = responses.filter((_, index) => index % attempts === 0) as Item[];
    expect(responses).toEqual(items.flatMap((item) => Array<Item>(attempts).fill(item)));
    expect(items).toEqual(requested.map((item) => ({ id: expect.any(BigInt), ...item })));
    await expectListed(items);
    expect(occurrences()).toEqual(requested.map(() => counted(metrics.petsCreated.name)));
  });

  test('throw an UnavailableError if all generated ids are taken, and succeed when retried', async () => {
    const other = generateItem();
    const id = newId();
    const stored = (await create(other, undefined, () => id))!;
    await expect(create(newItem, token, () => id)).rejects.toThrow(UnavailableError);
    await expectListed([stored], [other, newItem]);
    await expectListed([stored, (await create(newItem, token))!]);
  });
});
