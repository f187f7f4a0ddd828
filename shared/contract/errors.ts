import { MAX_BODY_BYTES } from './limits.ts';

/** Definition of an error code. */
export interface CatalogEntry {
  status: number;
  /** Default `message` of the Error body. */
  message: string;
  /** Value of the `Retry-After` header (RFC 9110 section 10.2.3). */
  retryAfterSeconds?: number;
  /** Whether the functions of all operations can return this error. */
  isOfAllFunctions?: true;
}

const catalog = {
  invalid_request: {
    status: 400,
    message: 'The request is not valid HTTP.',
    isOfAllFunctions: true,
  },
  unauthorized: {
    status: 401,
    message: 'A valid API key is required. Send it as Authorization: Bearer <API_KEY>.',
  },
  forbidden: {
    status: 403,
    message: 'The firewall rejected the request. If the request is valid, ask the operator of the service.',
  },
  not_found: {
    status: 404,
    message: 'This URL does not exist. The base URL ends with /v1.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This URL does not support this method.',
  },
  request_too_large: {
    status: 413,
    message: `The body must not exceed ${MAX_BODY_BYTES} bytes.`,
  },
  unsupported_media_type: {
    status: 415,
    message:
      'Content-Type must be application/json or omitted, and Content-Encoding must be identity or omitted.',
  },
  idempotency_key_reused: {
    status: 422,
    message:
      'This Idempotency-Key was already used with a different body. To retry, send the first body unchanged. For another ' +
      'request, use a new key.',
  },
  too_many_requests: {
    status: 429,
    message: 'Too many requests. Wait the number of seconds in the Retry-After header, then retry.',
    retryAfterSeconds: 1,
  },
  internal_error: {
    status: 500,
    message: 'An internal error occurred.',
    isOfAllFunctions: true,
  },
  service_unavailable: {
    status: 503,
    message: 'The service is temporarily unavailable.',
    retryAfterSeconds: 1,
    isOfAllFunctions: true,
  },
  gateway_timeout: {
    status: 504,
    message: 'The service did not respond in time.',
  },
} satisfies Record<string, CatalogEntry>;

export type ErrorCode = keyof typeof catalog;

/** Codes that the functions of all operations can return. */
export type CommonErrorCode = {
  [Code in ErrorCode]: (typeof catalog)[Code] extends { isOfAllFunctions: true } ? Code : never;
}[ErrorCode];

/** All errors of the API by code. The OpenAPI document and docs/api.md list them in this order. */
export const errorCatalog: Readonly<Record<ErrorCode, CatalogEntry>> = catalog;

export const errorCodes = Object.keys(errorCatalog) as ErrorCode[];

export type ErrorBody = ReturnType<typeof errorBody>;

/**
 * Returns the body of an error response.
 *
 * @param message error message for the client @default - the message in the catalog
 * @param requestId id of the request in the logs, which is added to the message of a 5xx
 */
export function errorBody(code: ErrorCode, message?: string, requestId?: string) {
  const { status, message: defaultMessage } = errorCatalog[code];
  const suffix = status >= 500 && requestId !== undefined ? ` Request id: ${requestId}` : '';
  return { code, message: `${message ?? defaultMessage}${suffix}`, status };
}

/** Message of the 403 for an API key that can only read. */
export const READ_ONLY_MESSAGE = 'This API key can only read. Use a key that can also write.';

/** Returns the message of the 404 for an id that no item has. */
export function notFoundMessage({ singular }: { singular: string }, id: bigint): string {
  return `No ${singular} has the id ${id}.`;
}

/**
 * Error that is converted to an error response. The response contains the `message` but not the `cause`, which is logged
 * for a 5xx. Implementations throw this error with `fail`, which accepts only the codes that the operation can return.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;

  /** @param message error message for the client @default - the message in the catalog */
  constructor(code: ErrorCode, message?: string, options?: ErrorOptions) {
    super(message ?? errorCatalog[code].message, options);
    this.code = code;
  }
}
