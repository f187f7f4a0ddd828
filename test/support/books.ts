import * as v from 'valibot';
import type { Collection, Item, Operation } from '../../shared/contract/operation.ts';
import {
  AssignedId,
  enumeration,
  IdempotencyKey,
  IdParameter,
  Int64,
  Int64Text,
  text,
} from '../../shared/contract/fields.ts';
import { listQuery } from '../../shared/contract/lists.ts';

// Books are a made-up collection, for tests of behavior that all collections share.

const Genre = enumeration(['crime', 'poetry']);

export const NewBook = v.object({ title: text(100), shelf: Int64, genre: v.exactOptional(Genre) });
export type NewBook = v.InferOutput<typeof NewBook>;

export const Book = v.object({ id: AssignedId, ...NewBook.entries });
export type Book = Item<typeof books>;

const collection = {
  singular: 'book',
  plural: 'books',
  description: 'Books of a library.',
  path: '/v1/books',
  item: Book,
  schemas: { Book, NewBook },
  filters: {
    genre: v.pipe(v.exactOptional(Genre), v.examples(['crime'])),
    shelf: v.pipe(v.exactOptional(Int64Text), v.examples([7n])),
  },
  filterCombinations: [['genre', 'shelf']],
} as const satisfies Collection;

export const books = {
  ...collection,
  operations: {
    list: {
      id: 'listBooks',
      summary: 'List books',
      method: 'GET',
      path: collection.path,
      request: { query: listQuery(collection) },
      success: { status: 200, description: 'A page of books.', schema: v.array(Book) },
      errors: [],
    },
    create: {
      id: 'createBook',
      summary: 'Add a book',
      method: 'POST',
      path: collection.path,
      request: { headers: v.object({ 'Idempotency-Key': v.exactOptional(IdempotencyKey) }), body: NewBook },
      success: { status: 201, description: 'The new book.', schema: Book },
      errors: ['request_too_large', 'unsupported_media_type', 'idempotency_key_reused'],
    },
    get: {
      id: 'getBook',
      summary: 'Get a book',
      method: 'GET',
      path: `${collection.path}/{bookId}`,
      request: { path: v.object({ bookId: IdParameter }) },
      success: { status: 200, description: 'The book.', schema: Book },
      errors: ['not_found'],
    },
  },
} as const satisfies Collection & { operations: Record<string, Operation> };
