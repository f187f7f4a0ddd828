import * as v from 'valibot';
import type { Collection, Item } from '../../shared/contract/collection.ts';
import { assignedId, Int64, Int64Text, text } from '../../shared/contract/fields.ts';

// A made-up collection for tests of what all collections share. It differs from pets in every option.

const GENRES = ['crime', 'poetry'] as const;

export const NewBook = v.object({
  title: text(100),
  shelf: Int64,
  genre: v.exactOptional(v.picklist(GENRES)),
});

export const Book = v.object({ id: assignedId('books'), ...NewBook.entries });
export type NewBook = v.InferOutput<typeof NewBook>;
export type Book = Item<typeof books>;

export const books = {
  singular: 'book',
  plural: 'books',
  description: 'Books of a library.',
  path: '/v1/books',
  item: Book,
  schemas: { Book, NewBook },
  filters: {
    genre: v.pipe(v.exactOptional(v.picklist(GENRES, 'must be crime or poetry')), v.examples(['crime'])),
    shelf: v.pipe(v.exactOptional(Int64Text), v.examples([7n])),
  },
  filterCombinations: [[], ['genre'], ['genre', 'shelf']],
  cursorPrefix: 'books',
} as const satisfies Collection;
