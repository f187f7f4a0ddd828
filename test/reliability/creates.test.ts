import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { PAGE } from '../../shared/contract/limits.ts';
import { database, UnavailableError } from '../../shared/storage/database.ts';
import { tokenOf } from '../../shared/storage/idempotency.ts';
import { newId } from '../../shared/storage/ids.ts';
import * as storage from '../../shared/storage/collection.ts';
import { list } from '../../shared/storage/lists.ts';
import { type Book, books as collection, booksTable, type NewBook } from '../support/books.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

useRealTables([booksTable]);

/** 24 hours and 10 minutes. */
const EXPIRY_SECONDS = 87_000;
const send = database.send.bind(database) as (command: unknown) => Promise<unknown>;

const create = (newBook: NewBook, requestToken?: string, generateId?: () => bigint) =>
  storage.create(collection, newBook, requestToken, generateId);

let newBook: NewBook;
let token: string;
beforeEach(() => {
  newBook = generateNewBook();
  token = newToken();
});

function newToken(idempotencyKey: string = randomUUID()): string {
  return tokenOf('createBook', 'key_1', idempotencyKey);
}

function generateNewBook(): NewBook {
  return { title: randomUUID(), shelf: 7n, genre: 'crime' };
}

/** Expects the list to contain each of `books` once, newest first, and no other book in `requested`. */
async function expectListed(books: Book[], requested: NewBook[] = books): Promise<void> {
  const { items: listed, next } = await list(collection, { limit: PAGE.maximum, filters: {} });
  expect(next).toBeUndefined();
  const titles = new Set(requested.map((book) => book.title));
  const newestFirst = books.toSorted((one, other) => (one.id > other.id ? -1 : 1));
  expect(listed.filter((book) => titles.has(book.title))).toEqual(newestFirst);
}

/** Makes the database call with this number fail (the first is 1). Returns the mock, which records the calls. */
function interruptBefore(call: number) {
  const calls = jest.spyOn(database, 'send');
  return calls.mockImplementation(async (command) => {
    if (calls.mock.calls.length === call) throw new Error('The function was interrupted.');
    return send(command);
  });
}

/** Stores an idempotency record without a book, as an interrupted request does. */
async function leaveRecord(generateId?: () => bigint): Promise<void> {
  const calls = interruptBefore(2);
  await expect(create(newBook, token, generateId)).rejects.toThrow('The function was interrupted.');
  calls.mockRestore();
}

/** Stores an idempotency record without its book, and a different book that has the id in the record. */
async function leaveRecordForTakenId(): Promise<void> {
  const id = newId();
  await leaveRecord(() => id);
  await create(generateNewBook(), undefined, () => id);
}

test.each<[string, () => Promise<unknown>]>([
  ['its idempotency key is new', async () => {}],
  ['an earlier attempt stored only the idempotency record', () => leaveRecord()],
  ['an earlier attempt succeeded', () => create(newBook, token)],
  ['a different book has the id in the idempotency record', leaveRecordForTakenId],
])('a retry completes an interrupted request if %s', async (_case, prepare) => {
  const books: Book[] = [];
  // Interrupts one request before call 1, one before call 2, and so on, until a request completes.
  for (let end = 1, isComplete = false; !isComplete; end += 1) {
    newBook = generateNewBook();
    token = newToken();
    await prepare();
    const calls = interruptBefore(end);
    const [outcome] = await Promise.allSettled([create(newBook, token)]);
    isComplete = calls.mock.calls.length < end;
    expect(outcome?.status).toBe(isComplete ? 'fulfilled' : 'rejected');
    calls.mockRestore();

    const book = (await create(newBook, token))!;
    expect(await create(newBook, token)).toEqual(book);
    expect(await storage.get(collection, book.id)).toEqual({ id: book.id, ...newBook });
    books.push(book);
  }
  await expectListed(books);
});

describe('concurrent requests with the same idempotency key', () => {
  test.each([
    ['the key is new', async () => {}],
    ['a different book has the id in the idempotency record', leaveRecordForTakenId],
  ])('get the same book if %s', async (_case, prepare) => {
    await prepare();
    const before = occurrences();
    const books = (await Promise.all(Array.from({ length: 10 }, () => create(newBook, token)))) as Book[];
    expect(books).toEqual(books.map(() => ({ id: books[0]!.id, ...newBook })));
    await expectListed([books[0]!]);
    expect(occurrences()).toEqual([...before, counted('BooksCreated')]);
  });

  test('create only one book if they request two different books', async () => {
    const requested = [generateNewBook(), generateNewBook()];
    const creates = Array.from({ length: 10 }, (_, index) => create(requested[index % 2]!, token));
    const books = (await Promise.all(creates)).filter((book) => book !== undefined);
    expect(books).toEqual(Array.from({ length: 5 }, () => books[0]));
    await expectListed([books[0]!], requested);
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

test('an idempotency key can be used for a new book after 24 hours and 10 minutes even if its record is still stored', async () => {
  const other = generateNewBook();
  const first = (await create(newBook, token))!;
  await expireSooner(EXPIRY_SECONDS - 60);
  expect(await create(newBook, token)).toEqual(first);
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
    ['three concurrent requests for each book have the same idempotency key', 3, newToken],
  ])('store each book with a different id if %s', async (_case, attempts, tokenFor) => {
    const firstId = newId();
    const generateId = jest.fn<() => bigint>();
    // Repeats ids, so that creates of different books generate the same id.
    generateId.mockImplementation(
      () => firstId + BigInt(Math.floor(generateId.mock.calls.length / (2 * attempts))),
    );
    const requested = Array.from({ length: 8 }, generateNewBook);
    const responses = await Promise.all(
      requested
        .flatMap((book) => Array<NewBook>(attempts).fill(book))
        .map((book) => create(book, tokenFor(book.title), generateId)),
    );
    expect(generateId.mock.calls.length).toBeGreaterThan(responses.length);
    const books = responses.filter((_, index) => index % attempts === 0) as Book[];
    expect(responses).toEqual(books.flatMap((book) => Array<Book>(attempts).fill(book)));
    expect(books).toEqual(requested.map((book) => ({ id: expect.any(BigInt), ...book })));
    await expectListed(books);
    expect(occurrences()).toEqual(requested.map(() => counted('BooksCreated')));
  });

  test('throw an UnavailableError if all generated ids are taken, and succeed when retried', async () => {
    const other = generateNewBook();
    const id = newId();
    const stored = (await create(other, undefined, () => id))!;
    await expect(create(newBook, token, () => id)).rejects.toThrow(UnavailableError);
    await expectListed([stored], [other, newBook]);
    await expectListed([stored, (await create(newBook, token))!]);
  });
});
