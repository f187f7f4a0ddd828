import * as v from 'valibot';
import { type ErrorCode, notFoundMessage } from '../../shared/contract/errors.ts';
import { type Collection, type PublishedCollection } from '../../shared/contract/operation.ts';
import { IDEMPOTENCY_HOURS, MAX_BODY_BYTES } from '../../shared/contract/limits.ts';
import { problemOf } from '../../shared/contract/fields.ts';

/** Descriptions of the operations that all collections have, by kind, in Markdown. */
export const descriptions: Record<string, (names: Collection) => string> = {
  list: ({ singular, plural }) =>
    `Returns a page of up to \`limit\` ${plural}, newest first (by descending \`id\`). If there are more ${plural}, the response has a \`Link\` header (RFC 8288) ` +
    'with `rel="next"` and the URL of the next page. Request this URL unchanged. The last page has no such link.\n\n' +
    `Pages contain no ${singular} twice, and skip no ${singular} that had been listed for a few seconds when the first page was requested, and still is. ` +
    `A new ${singular} appears in lists shortly after it is created. If its create was retried, it can appear behind older ${plural}.`,

  create: ({ singular }) =>
    `Creates a ${singular} and assigns its \`id\`.\n\nTo retry safely, send an \`Idempotency-Key\` that is unique to this ${singular}, such as a random ` +
    'UUID. After a 408, a 429, a 5xx, a timeout or a lost connection, retry with the same key and the same bytes of the ' +
    `body. For ${IDEMPOTENCY_HOURS} hours, all retries return the same ${singular} and never create a duplicate ${singular}. ` +
    'If the response has a `Retry-After` header, wait the number of seconds in the header. Otherwise, use exponential ' +
    'backoff with jitter.\n\nThe `Content-Type` ' +
    'can also be any `application` type ending in `+json`, or be omitted. The body must be UTF-8 without a `Content-Encoding` ' +
    `and is limited to ${MAX_BODY_BYTES / 1_024} KiB. Unknown fields are ignored.`,

  get: ({ singular }) =>
    `Returns the ${singular} with this \`id\`. Reads are strongly consistent, so a new ${singular} is available immediately.`,
};

/** Ids of the first and the second item in the examples of lists. */
export function exampleIds({ item }: Collection): readonly bigint[] {
  return v.getExamples(item.entries['id'] as v.GenericSchema<bigint>);
}

/** Examples of the messages in error responses, for errors whose message is not that of the catalog. */
export const exampleMessages: Partial<Record<ErrorCode, (collection: PublishedCollection) => string>> = {
  invalid_request({ operations: { create } }) {
    const body = create.request.body!;
    return `${v
      .safeParse(body, {})
      .issues!.map((issue) => problemOf(issue, body))
      .join('; ')}.`;
  },
  not_found: (collection) => notFoundMessage(collection, exampleIds(collection)[0]! + 1n),
};

/** Causes of the errors, in Markdown. */
export const errorDescriptions: Record<ErrorCode, string> = {
  invalid_request:
    'A parameter, a header or the body is invalid. `message` lists the invalid parameters, headers and fields with their requirements.',
  unauthorized: 'The API key is missing, malformed, unknown, expired or revoked. Do not retry.',
  forbidden: 'The API key can only read, or the firewall rejected the request.',
  not_found: 'The URL does not exist, or no item has the `id` in the URL.',
  method_not_allowed: 'The URL does not support this method. The `Allow` header lists the supported methods.',
  request_too_large: `The body is larger than ${MAX_BODY_BYTES / 1_024} KiB.`,
  unsupported_media_type:
    'The `Content-Type` is neither `application/json` nor an `application` type ending in `+json`, its `charset` is not ' +
    '`utf-8`, or the `Content-Encoding` is not `identity`.',
  idempotency_key_reused: `The \`Idempotency-Key\` was used with a different body within the last ${IDEMPOTENCY_HOURS} hours.`,
  too_many_requests: 'The request exceeded the rate limit of the operation, the IP address or the API key.',
  internal_error: 'The service failed unexpectedly. `message` contains the request id.',
  service_unavailable: 'The service is temporarily unavailable. `message` contains the request id.',
  gateway_timeout: 'The service did not respond in time. `message` contains the request id.',
};
