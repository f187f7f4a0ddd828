import type * as v from 'valibot';
import type { Operation } from './operation.ts';
import { IDEMPOTENCY_HOURS, MAX_BODY_BYTES } from './limits.ts';

/** The field that the items of all collections have. `newId` generates the id. */
export interface AnyItem {
  id: bigint;
}

/**
 * Definition of a resource whose items clients can create, get and list. The code in `shared/storage/` reads this
 * definition, so a new collection needs no storage code of its own.
 */
export interface Collection {
  /** Name of one item in lower case, such as `gift card`. */
  singular: string;
  /** Name of several items in lower case, such as `gift cards`. The names of tables and metrics are derived from it. */
  plural: string;
  /** Description of the collection in Markdown, for the OpenAPI document. */
  description: string;
  /** Path of the list after the host and stage. */
  path: `/v1/${string}`;
  /** Schema of an item in responses. A stored item also has attributes that are not published, such as index keys. */
  item: v.GenericSchema<any, AnyItem> & { entries: v.ObjectEntries };
  /** Schemas that have a name in the OpenAPI document. */
  schemas: Record<string, v.GenericSchema>;
  /**
   * Query parameters that filter the list. A parameter selects the items whose field of the same name equals the
   * parameter's value. A filter is an enumeration or an integer, because a text can be too long for the key of an
   * index, and can contain `#`, which separates the values in the key.
   */
  filters: v.ObjectEntries;
  /**
   * Combinations of filters, each with an index. The first combination is empty, because clients can list without a
   * filter. Clients can send a combination as soon as `filters` contains all its filters.
   */
  filterCombinations: readonly (readonly string[])[];
  /**
   * Start of the text in each cursor. A list recognizes its own cursors by this prefix, so each list must have a
   * different one.
   */
  cursorPrefix: string;
}

/** A collection with its operations by kind. */
export interface PublishedCollection extends Collection {
  operations: Record<'list' | 'create' | 'get', Operation> & Record<string, Operation>;
}

export type Item<C extends Pick<Collection, 'item'>> = v.InferOutput<C['item']>;

/** Returns the names of an item's fields in the order in which responses contain them. */
export function fieldsOf({ item }: Pick<Collection, 'item'>): string[] {
  return Object.keys(item.entries);
}

type Names = Pick<Collection, 'singular' | 'plural'>;

// The operations of all collections share these texts.

/** Returns the description of an operation that lists a collection. */
export function listDescription({ singular, plural }: Names): string {
  return (
    `Returns a page of up to \`limit\` ${plural}, newest first (by descending \`id\`). If there are more ${plural}, the response has a \`Link\` header (RFC 8288) ` +
    'with `rel="next"` and the URL of the next page. Request this URL unchanged. The last page has no such link.\n\n' +
    `Pages contain no ${singular} twice and skip no ${singular} that had been listed for a few seconds when the first page was requested. ` +
    `A new ${singular} appears in lists shortly after it is created. If its create was retried, it can appear behind older ${plural}.`
  );
}

/** Returns the description of an operation that creates an item of a collection. */
export function createDescription({ singular }: Names): string {
  return (
    `Creates a ${singular} and assigns its \`id\`.\n\nTo retry safely, send an \`Idempotency-Key\` that is unique to this ${singular}, such as a random ` +
    'UUID. After a 408, a 429, a 5xx, a timeout or a lost connection, retry with the same key and body. For ' +
    `${IDEMPOTENCY_HOURS} hours, all retries return the same ${singular} and never create a duplicate ${singular}. ` +
    'If the response has a `Retry-After` header, wait the number of seconds in the header. Otherwise, use exponential ' +
    'backoff with jitter.\n\nThe `Content-Type` ' +
    'can also be any `application` type ending in `+json`, or be omitted. The body must be UTF-8 without a `Content-Encoding` ' +
    `and is limited to ${MAX_BODY_BYTES / 1_024} KiB. Unknown fields are ignored.`
  );
}

/** Returns the description of an operation that gets an item of a collection. */
export function getDescription({ singular }: Names): string {
  return `Returns the ${singular} with this \`id\`. Reads are strongly consistent, so a new ${singular} is available immediately.`;
}

/** Returns the message of the 404 for an id that no item has. */
export function notFoundMessage({ singular }: Names, id: bigint): string {
  return `No ${singular} has the id ${id}.`;
}

/** Returns the message of the 422 for an `Idempotency-Key` that was already used for a different item. */
export function keyReusedMessage({ singular }: Names): string {
  return `This Idempotency-Key was already used for a different ${singular}. Use a new key for this ${singular}.`;
}
