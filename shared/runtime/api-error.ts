import { type ErrorCode, errorCatalog } from '../contract/errors.ts';

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
