import {
  HEADERS_SECONDS,
  IDEMPOTENCY_HOURS,
  MAX_BODY_BYTES,
  MAX_HEADER_BYTES,
  MAX_URL_CHARACTERS,
  REQUEST_SECONDS,
} from './limits.ts';

interface CatalogueEntry {
  status: number;
  /** `message` of the Error body where nothing more is known; a 5xx adds the request id. */
  message: string;
  /** When clients get it, for the documents (Markdown). */
  description: string;
  /** Seconds that the client is asked to wait: `Retry-After`, RFC 9110 section 10.2.3. */
  retryAfterSeconds?: number;
}

const catalogue = {
  invalid_request: {
    status: 400,
    message: 'The request is not valid HTTP.',
    description:
      'A parameter, a header or the body breaks a rule; `message` names each field and what it must be.',
  },
  unauthorized: {
    status: 401,
    message: 'A valid API key is required: Authorization: Bearer <API_KEY>.',
    description: 'The API key is missing, malformed, unknown, expired or revoked.',
  },
  forbidden: {
    status: 403,
    message: 'The request was rejected.',
    description: 'The firewall rejected the request.',
  },
  not_found: {
    status: 404,
    message: 'There is nothing at this address.',
    description: 'There is no such pet, or no such address.',
  },
  method_not_allowed: {
    status: 405,
    message: 'This URL does not support this method.',
    description: 'The URL does not support this method; `Allow` lists those that it supports.',
  },
  request_timeout: {
    status: 408,
    message: 'The request did not arrive in time.',
    description:
      `The request took too long to arrive (in the local service: ${HEADERS_SECONDS} seconds for the headers, ` +
      `${REQUEST_SECONDS} for all). Retry on a new connection.`,
  },
  request_too_large: {
    status: 413,
    message: 'The request is too large.',
    description: `The body is too large: operations take at most ${MAX_BODY_BYTES / 1_024} KiB.`,
  },
  unsupported_media_type: {
    status: 415,
    message: 'The body must be application/json in UTF-8, without a Content-Encoding.',
    description:
      'The body is neither `application/json` nor any `application` type ending in `+json`, or its `charset` is not ' +
      'UTF-8, or it has a `Content-Encoding` other than `identity`. API Gateway may return it in place of a 404 or 405.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used for another pet: send this one under a key of its own.',
    description: `This \`Idempotency-Key\` was sent with another pet in the last ${IDEMPOTENCY_HOURS} hours.`,
  },
  too_many_requests: {
    status: 429,
    message: 'Too many requests; please slow down.',
    description: 'Above the rate of the operation, of the client’s address or of its API key.',
    retryAfterSeconds: 1,
  },
  request_header_fields_too_large: {
    status: 431,
    message: `The URL may have at most ${MAX_URL_CHARACTERS} characters, and the headers ${MAX_HEADER_BYTES} bytes in all.`,
    description:
      `The URL has more than ${MAX_URL_CHARACTERS} characters, or the headers have more than ${MAX_HEADER_BYTES} bytes in all. ` +
      '`message` names the limit.',
  },
  internal_error: {
    status: 500,
    message: 'Something went wrong on our side.',
    description: 'A fault of the service. `message` has the request id.',
  },
  service_unavailable: {
    status: 503,
    message: 'The service cannot answer right now.',
    description: 'The service cannot answer at this moment. `message` has the request id.',
    retryAfterSeconds: 1,
  },
  gateway_timeout: {
    status: 504,
    message: 'The service did not answer in time.',
    description: 'The service did not answer in time. `message` has the request id.',
  },
} satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof catalogue;

/** Every error of this service by its code. */
export const errorCatalogue: Readonly<Record<ErrorCode, CatalogueEntry>> = catalogue;

export const errorCodes = Object.keys(errorCatalogue) as ErrorCode[];

/** Errors before a request is complete. They belong to no operation and no gateway response; any request can get them. */
export const connectionErrorCodes: ErrorCode[] = ['request_timeout', 'request_header_fields_too_large'];

/** The body of every error response of the service. `status` repeats the HTTP status code. */
export type ErrorBody = ReturnType<typeof errorBody>;

/**
 * The Error body of a code.
 *
 * @param message for people @default - the message of the catalogue
 * @param requestId added to the message of a 5xx: it finds the cause in the logs
 */
export function errorBody(code: ErrorCode, message?: string, requestId?: string) {
  const { status, message: usual } = errorCatalogue[code];
  const suffix = status >= 500 && requestId !== undefined ? ` Request id: ${requestId}` : '';
  return { code, message: `${message ?? usual}${suffix}`, status };
}

/** Rejects a request: the client gets the `message`, the log the `cause`, which never leaves the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;

  /** @param message for the client @default - the message of the catalogue */
  constructor(code: ErrorCode, message?: string, options?: ErrorOptions) {
    super(message ?? errorCatalogue[code].message, options);
    this.code = code;
  }
}
