import type * as v from 'valibot';
import type { ErrorCode } from './errors.ts';

/** Headers of every response, including those that API Gateway and the firewall generate. */
export const commonHeaders = {
  'Cache-Control': 'no-store',
  'Strict-Transport-Security': 'max-age=31536000', // a year (RFC 6797)
  'X-Content-Type-Options': 'nosniff', // https://fetch.spec.whatwg.org/#x-content-type-options-header
};

/** Definition of an operation. Its route, validation, response and part of the OpenAPI document are derived from it. */
export interface Operation {
  id: string;
  summary: string;
  /** Description in Markdown. @default - the description that the operation's kind has for all collections */
  description?: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path after the host and stage. Parameters are written as `{name}`. */
  path: `/v1/${string}`;
  request: RequestParts;
  success: {
    status: 200 | 201 | 204;
    description: string;
    /** Schema of the response body. @default - no body */
    schema?: v.GenericSchema;
    /** Additional response headers: `Location` of the created item, or `Link` to the next page if there is one. */
    headers?: readonly ('Location' | 'Link')[];
  };
  /** Errors that the function of this operation returns, in addition to the errors of all functions. */
  errors: readonly ErrorCode[];
  /** Marks an operation to which the compatibility policy does not apply yet. @default - the operation is stable */
  stability?: 'experimental' | 'beta';
  deprecation?: Deprecation;
}

/**
 * Schemas of the parts of a request. A request with a query parameter that has no schema is rejected. Headers without a
 * schema are ignored, as is a body if the operation has no schema for it.
 */
export interface RequestParts {
  path?: Fields;
  query?: Fields;
  headers?: Fields;
  body?: Fields;
}

/** Schema of an object whose fields have schemas. */
export type Fields = v.GenericSchema<any, object> & { entries: v.ObjectEntries };

/** Deprecation (RFC 9745) and removal date (RFC 8594) of an operation. */
export interface Deprecation {
  since: Date;
  sunset: Date;
  /** Path of the replacement (`rel="successor-version"`, RFC 5829). */
  successor: `/v1/${string}`;
  /** Migration advice in Markdown. */
  advice: string;
}

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
  item: v.GenericSchema<any, AnyItem> & Fields;
  /** Schemas that have a name in the OpenAPI document. */
  schemas: Record<string, v.GenericSchema>;
  /**
   * Query parameters that filter the list. A parameter selects the items whose field of the same name equals the
   * parameter's value. Each filter has an index, whose key is the field. A filter is an enumeration or an integer,
   * because a text can be too long for the key of an index. No value contains `#`, which separates joined values.
   */
  filters: v.ObjectEntries;
  /** Filters that clients can combine. Each combination has an index, whose key is an attribute with all values. */
  filterCombinations: readonly (readonly string[])[];
}

/** A collection with its operations by kind. */
export interface PublishedCollection extends Collection {
  operations: Record<'list' | 'create' | 'get', Operation> & Record<string, Operation>;
}

export type Item<C extends Pick<Collection, 'item'>> = v.InferOutput<C['item']>;

/** Returns the published fields of a stored item. */
export function published<C extends Collection>({ item }: C, stored: object): Item<C> {
  const values: Record<string, unknown> = { ...stored };
  const present = Object.keys(item.entries).filter((name) => values[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, values[name]])) as object as Item<C>;
}
