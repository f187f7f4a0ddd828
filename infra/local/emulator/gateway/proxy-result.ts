import * as v from 'valibot';
import type { HttpResponse } from './http-message.ts';

export const scalarAsText = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/** API Gateway renames `WWW-Authenticate` in the responses of functions. */
const headerName = v.pipe(
  v.string(),
  v.transform((name) => name.replace(/^www-authenticate$/i, 'x-amzn-Remapped-$&')),
);

/**
 * Converts a function's result to a response. API Gateway rejects results with additional fields or wrong types.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
export const ProxyResult = v.pipe(
  v.strictObject({
    statusCode: v.pipe(v.number(), v.integer()),
    headers: v.optional(v.record(headerName, scalarAsText), {}),
    body: v.optional(v.string(), ''),
    isBase64Encoded: v.optional(v.literal(false)),
  }),
  v.transform(({ statusCode, headers, body }): HttpResponse => {
    const defaults = statusCode === 204 ? {} : { 'Content-Type': 'application/json' };
    return { status: statusCode, headers: { ...defaults, ...headers }, body };
  }),
);
