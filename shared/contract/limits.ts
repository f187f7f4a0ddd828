// Numbers that schemas, messages and documents share.

export const PAGE = { minimum: 1, maximum: 100, default: 20 } as const;

/** A body of 64 KiB at most: a pet is far below, and an accepted body never exceeds what a table stores. */
export const MAX_BODY_BYTES = 64 * 1_024;

/**
 * Limits of API Gateway for the head of a request to a Regional REST API. Header bytes include names and line ends.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
export const MAX_URL_CHARACTERS = 10_240;
export const MAX_HEADER_BYTES = 10_240;

/** How long the local service waits for the headers of a request, and for all of it. API Gateway's times are not documented. */
export const HEADERS_SECONDS = 60;
export const REQUEST_SECONDS = 300;

/** Unicode characters of a name, at most 1,020 bytes in UTF-8: a pet stays a small item. */
export const MAX_NAME_CHARACTERS = 255;

/** How long a retry with the same `Idempotency-Key` is recognised, counted from the first request. */
export const IDEMPOTENCY_HOURS = 24;

export const INT64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;
