export const PAGE = { minimum: 1, maximum: 100, default: 20 } as const;

/** Maximum size of a request body. The limit ensures that every resource fits in a DynamoDB item of up to 400 KB. */
export const MAX_BODY_BYTES = 64 * 1_024;

/** Number of hours after the first request during which an `Idempotency-Key` identifies retries. */
export const IDEMPOTENCY_HOURS = 24;

export const INT64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;
