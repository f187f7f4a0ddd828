/** Every refusal this service knows, with the HTTP status it is answered with. */
export const errorCatalogue = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  too_many_requests: 429,
  internal_error: 500,
  service_unavailable: 503,
  gateway_timeout: 504,
} as const;

export type ErrorCode = keyof typeof errorCatalogue;

/** The body of every answer that is not a success. `status` repeats the HTTP status code. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  status: number;
}

export function errorBody(code: ErrorCode, message: string): ErrorBody {
  return { code, message, status: errorCatalogue[code] };
}

/** Seconds a client is asked to wait (`Retry-After`, RFC 9110 section 10.2.3) after these refusals. */
export const retryAfterSeconds: Partial<Record<ErrorCode, number>> = {
  too_many_requests: 1,
  service_unavailable: 1,
};

/**
 * The one error that functions throw to refuse a request.
 * `message` is shown to the client; `cause` is for the log and never leaves the service.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The refusal of what may well be answered a moment later. */
export function serviceUnavailable(): ApiError {
  return new ApiError('service_unavailable', 'The service cannot answer right now.');
}
