/** Limits and default of the number of items that a client requests per page. */
export const PAGE = { minimum: 1, maximum: 100, default: 20 } as const;

/**
 * Maximum size of a request body. The limit ensures that the stored item is smaller than 400 KB, DynamoDB's maximum.
 */
export const MAX_BODY_BYTES = 64 * 1_024;

/** Number of hours after the first request during which an `Idempotency-Key` identifies retries. */
export const IDEMPOTENCY_HOURS = 24;

export const INT64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;
