import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as v from 'valibot';
import type { HttpResponse } from './http-message.ts';

/** Schema of a text, a number or a boolean. The parsed value is a text. */
export const scalarAsText = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/**
 * Headers that API Gateway renames in the responses of functions. Some of them would contradict how the server sends the
 * body.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
 */
const REMAPPED_HEADERS =
  /^(?:connection|content-length|date|proxy-authenticate|server|te|trailer|transfer-encoding|upgrade|www-authenticate)$/i;

const headerName = v.pipe(
  v.string(),
  v.check(isHeaderName, 'Invalid header name'),
  v.transform((name) => name.replace(REMAPPED_HEADERS, 'x-amzn-Remapped-$&')),
);

const headerValue = v.pipe(scalarAsText, v.check(isHeaderValue, 'Invalid header value'));

/**
 * Converts a function's result to a response. API Gateway rejects results with additional fields or wrong types. AWS
 * does not document which statuses and headers API Gateway rejects. The emulator rejects those that HTTP forbids in a
 * response.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export const ProxyResult = v.pipe(
  v.strictObject({
    // A 1xx is not a final response (RFC 9110 section 15.2).
    statusCode: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
    headers: v.optional(v.record(headerName, headerValue), {}),
    body: v.optional(v.string(), ''),
    isBase64Encoded: v.optional(v.literal(false)),
  }),
  v.transform(({ statusCode, headers, body }): HttpResponse => {
    const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
    const defaults = statusCode === 204 || hasType ? {} : { 'Content-Type': 'application/json' };
    return { status: statusCode, headers: { ...defaults, ...headers }, body };
  }),
);

function isHeaderName(name: string): boolean {
  return doesNotThrow(() => validateHeaderName(name));
}

function isHeaderValue(value: string): boolean {
  return doesNotThrow(() => validateHeaderValue('name', value));
}

function doesNotThrow(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}
