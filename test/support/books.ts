import * as v from 'valibot';
import type { Collection, Item } from '../../shared/contract/collection.ts';
import {
  assignedId,
  enumeration,
  idempotencyKey,
  idParameter,
  Int64,
  Int64Text,
  text,
} from '../../shared/contract/fields.ts';
import { listQuery } from '../../shared/contract/lists.ts';
import type { Operation } from '../../shared/contract/operation.ts';

// Books are a made-up collection, for tests of behavior that all collections share.

const Genre = enumeration(['crime', 'poetry']);

export const NewBook = v.object({ title: text(100), shelf: Int64, genre: v.exactOptional(Genre) });
export type NewBook = v.InferOutput<typeof NewBook>;

export const Book = v.object({ id: assignedId('books'), ...NewBook.entries });
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
  filterCombinations: [[], ['genre'], ['genre', 'shelf']],
  cursorPrefix: 'books',
} as const satisfies Collection;

export const books = {
  ...collection,
  operations: {
    list: {
      id: 'listBooks',
      summary: 'List books',
      description: 'Returns a page of books.',
      method: 'GET',
      path: collection.path,
      request: v.object({ query: listQuery(collection) }),
      success: { status: 200, description: 'A page of books.', schema: v.array(Book) },
      errors: { invalid_request: true },
    },
    create: {
      id: 'createBook',
      summary: 'Add a book',
      description: 'Adds a book.',
      method: 'POST',
      path: collection.path,
      request: v.object({
        headers: v.object({ 'Idempotency-Key': v.exactOptional(idempotencyKey(collection)) }),
        body: NewBook,
      }),
      success: { status: 201, description: 'The new book.', schema: Book },
      errors: {
        invalid_request: true,
        request_too_large: true,
        unsupported_media_type: true,
        idempotency_key_reused: true,
      },
    },
    get: {
      id: 'getBook',
      summary: 'Get a book',
      description: 'Returns a book.',
      method: 'GET',
      path: `${collection.path}/{bookId}`,
      request: v.object({ path: v.object({ bookId: idParameter(collection) }) }),
      success: { status: 200, description: 'The book.', schema: Book },
      errors: { not_found: true },
    },
  },
} as const satisfies Collection & { operations: Record<string, Operation> };
