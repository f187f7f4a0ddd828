export const PAGE = { minimum: 1, maximum: 100, default: 20 } as const;

/** Maximum size of a request body. The limit ensures that every pet fits in a DynamoDB item of up to 400 KB. */
export const MAX_BODY_BYTES = 64 * 1_024;

/**
 * API Gateway's limits for requests to a Regional REST API. The size of headers includes names and line endings.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html
 */
export const MAX_URL_CHARACTERS = 10_240;
export const MAX_HEADER_BYTES = 10_240;

/** Timeouts of the local service for the headers and the complete request. AWS does not document API Gateway's timeouts. */
export const HEADERS_SECONDS = 60;
export const REQUEST_SECONDS = 300;

/** Maximum length of a name in Unicode code points. In UTF-8, a name has up to 1,020 bytes, so items stay small. */
export const MAX_NAME_CHARACTERS = 255;

/** Number of hours after the first request during which an `Idempotency-Key` identifies retries. */
export const IDEMPOTENCY_HOURS = 24;

export const INT64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n } as const;
