import type * as v from 'valibot';
import type { ErrorCode } from './errors.ts';

/** Definition of an operation. Its route, validation, response and part of the OpenAPI document are derived from it. */
export interface Operation {
  id: string;
  summary: string;
  description: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path after the host and stage. Parameters are written as `{name}`. */
  path: `/v1/${string}`;
  request: v.GenericSchema<unknown, object> & { entries: RequestParts };
  success: {
    status: 200 | 201 | 204;
    description: string;
    /** Schema of the response body. @default - no body */
    schema?: v.GenericSchema;
    /** Additional response headers: `Location` of the created item, or `Link` to the next page if there is one. */
    headers?: readonly ('Location' | 'Link')[];
  };
  /**
   * Errors that the function of this operation returns, in addition to the errors of all functions. The value is an
   * example of the error's `message`, or `true` for the message in the catalog. In the OpenAPI document, all operations
   * share one example for each error.
   */
  errors: Partial<Record<ErrorCode, string | true>>;
  /** Marks an operation to which the compatibility policy does not apply yet. @default - the operation is stable */
  stability?: 'experimental' | 'beta';
  deprecation?: Deprecation;
}

/** Schemas of the parts of a request. A function ignores the parts for which its operation has no schema. */
export interface RequestParts {
  path?: v.GenericSchema;
  query?: v.GenericSchema;
  /** Schema with an entry for each header that the implementation of the operation gets. */
  headers?: v.GenericSchema & { entries: Record<string, v.GenericSchema> };
  body?: v.GenericSchema;
}

/** Deprecation (RFC 9745) and removal date (RFC 8594) of an operation. */
export interface Deprecation {
  since: Date;
  sunset: Date;
  /** Path of the replacement (`rel="successor-version"`, RFC 5829). */
  successor: `/v1/${string}`;
  /** Migration advice in Markdown. */
  advice: string;
}
