import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { Collection } from '../../shared/contract/collection.ts';
import { text } from '../../shared/contract/fields.ts';
import { create } from '../../shared/storage/collection.ts';
import { database } from '../../shared/storage/database.ts';
import { Book, books, booksTable, type NewBook } from '../support/books.ts';
import '../support/log-lines.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

// During a deployment or after a rollback, a create and its retries can reach versions that know different fields. A
// version ignores the fields that it does not know.

useRealTables([booksTable]);

const taggedBooks = {
  ...books,
  item: v.object({ ...Book.entries, tag: v.exactOptional(text(20)) }),
} satisfies Collection;

type SentBook = NewBook & { tag?: string };
type Version = (sent: SentBook, token: string) => Promise<object | undefined>;

const withoutTag: Version = ({ tag: _ignored, ...book }, token) => create(books, book, token);
const withTag: Version = (book, token) => create(taggedBooks, book, token);

const sent: SentBook = { title: 'Emma', shelf: 7n, tag: 'new' };
const stored = { id: expect.any(BigInt), title: 'Emma', shelf: 7n };
const storedWithTag = { ...stored, tag: 'new' };

afterEach(() => void jest.restoreAllMocks());

/** Sends a create to a version that is interrupted before it stores the book. */
async function interrupt(version: Version, token: string): Promise<void> {
  const send = database.send.bind(database) as (command: unknown) => Promise<unknown>;
  const calls = jest.spyOn(database, 'send').mockImplementation(async (command) => {
    if (calls.mock.calls.length === 2) throw new Error('The function was interrupted.');
    return send(command);
  });
  await expect(version(sent, token)).rejects.toThrow('The function was interrupted.');
  calls.mockRestore();
}

describe.each([
  {
    which: 'a newer version',
    first: withoutTag,
    second: withTag,
    acknowledged: [stored, stored],
    completed: [storedWithTag, stored],
  },
  {
    which: 'an older version',
    first: withTag,
    second: withoutTag,
    acknowledged: [storedWithTag, stored],
    completed: [stored, stored],
  },
])('a retry that reaches $which', ({ first, second, acknowledged, completed }) => {
  test('gets the fields of the stored book that its version knows', async () => {
    const token = randomUUID();
    const responses = [await first(sent, token), await second(sent, token)];
    expect(responses).toStrictEqual(acknowledged);
    expect(responses[1]).toHaveProperty('id', (responses[0] as { id: bigint }).id);
    expect(await first(sent, token)).toStrictEqual(responses[0]);
  });

  test('stores the fields that its version knows if the first request stored no book', async () => {
    const token = randomUUID();
    await interrupt(first, token);
    const responses = [await second(sent, token), await first(sent, token)];
    expect(responses).toStrictEqual(completed);
    expect(responses[1]).toHaveProperty('id', (responses[0] as { id: bigint }).id);
  });

  test.each<[string, Partial<SentBook>]>([
    ['a required field has another value', { title: 'emma' }],
    ['an optional field is added', { genre: 'crime' }],
  ])('gets no book if %s', async (_case, change) => {
    const token = randomUUID();
    await first(sent, token);
    expect(await second({ ...sent, ...change }, token)).toBeUndefined();
  });

  test('gets no book if an optional field is omitted', async () => {
    const token = randomUUID();
    await first({ ...sent, genre: 'crime' }, token);
    expect(await second(sent, token)).toBeUndefined();
  });
});

test('a retry that reaches the same version gets no book if the field has another value', async () => {
  const token = randomUUID();
  expect(await withTag(sent, token)).toStrictEqual(storedWithTag);
  expect(await withTag({ ...sent, tag: 'old' }, token)).toBeUndefined();
});
