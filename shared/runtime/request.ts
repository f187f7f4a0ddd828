import { unescape } from 'node:querystring';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as v from 'valibot';
import { problemOf, REPLACEMENT_CHARACTER } from '../contract/fields.ts';
import { ApiError } from '../contract/errors.ts';
import { parseJson } from '../contract/json.ts';
import type { Fields, Operation, RequestParts } from '../contract/operation.ts';
import { MAX_BODY_BYTES } from '../contract/limits.ts';
import { environmentVariables } from '../names.ts';

/**
 * Matches a parameter of a media type (RFC 9110 section 5.6.6), in lower case. A quoted value can contain semicolons.
 * `MIMEType` of node:util is too lenient: it ignores a second charset and accepts quotes without an end.
 */
const PARAMETER = /;\s*([^\s=;]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;]*)/g;

/**
 * Matches the position at the end of a `JSON.parse` error. Clients get only the position, because the rest of the
 * message can quote the body. V8 reports no position for an unexpected token, such as the `R` in `{"name":Rex}`, or for
 * an unexpected end.
 */
const JSON_POSITION = /\(line (\d+) column (\d+)\)$/;
const BYTE_ORDER_MARK = '\ufeff';

/** The validated parts of a request, as defined by the operation's schemas, and the bytes of its body. */
export type ParsedRequest<O extends Operation> = {
  [Part in keyof O['request'] & keyof RequestParts]: O['request'][Part] extends v.GenericSchema
    ? v.InferOutput<O['request'][Part]>
    : never;
} & { rawBody: Buffer };

/**
 * Validates a request and returns the parts for which the operation has a schema.
 *
 * @throws ApiError `invalid_request` if the query, headers or body are invalid, `not_found` if the path is invalid,
 *   `request_too_large` if the body exceeds the limit, or `unsupported_media_type` if the headers declare a compressed
 *   body, another media type than JSON, or another charset than UTF-8.
 */
export function parseRequest<O extends Operation>(
  { request }: O,
  event: APIGatewayProxyEvent,
): ParsedRequest<O> {
  const { path, query, headers, body }: RequestParts = request;
  const pathParameters = Object.entries(event.pathParameters ?? {});
  const sentQuery = event.multiValueQueryStringParameters ?? {};
  const headerNames = Object.keys(headers?.entries ?? {});
  const rawBody = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  const received = {
    // Unlike `decodeURIComponent`, `unescape` does not throw for invalid encodings, so the schema can reject them.
    path: Object.fromEntries(pathParameters.map(([name, value = '']) => [name, unescape(value)])),
    query: singleValues(Object.entries(sentQuery)),
    headers: singleValues(headerNames.map((name) => [name, headerValues(event, name)])),
    body: body && readBody(event, rawBody),
  };
  const parsed: Record<string, unknown> = {};
  const problems = unknownParameters(Object.keys(sentQuery), query);
  for (const [part, schema] of Object.entries({ path, query, headers, body })) {
    if (!schema) continue;
    const { success, output, issues = [] } = v.safeParse(schema, received[part as keyof RequestParts]);
    const found = issues.map((issue) => problemOf(issue, schema, part !== 'headers'));
    if (!success && part === 'path') throw new ApiError('not_found', `${found.join('; ')}.`);
    problems.push(...found);
    parsed[part] = output;
  }
  if (problems.length > 0) throw new ApiError('invalid_request', `${problems.join('; ')}.`);
  return { ...parsed, rawBody } as ParsedRequest<O>;
}

/**
 * Returns the base URL without `/v1`. If the stage has a `publicUrl`, the result is the `publicUrl`, because a proxy in
 * front of the API changes `Host`. Otherwise, the result is the URL of the host that was called, followed by the part of
 * its path before that of the operation: the name of the stage, or the base path of a custom domain, if any.
 */
export function rootUrl({ path }: Pick<Operation, 'path'>, event: APIGatewayProxyEvent): string {
  const publicUrl = process.env[environmentVariables.publicUrl];
  if (publicUrl) return publicUrl;
  const { requestContext } = event;
  const scheme = headerValues(event, 'X-Forwarded-Proto').at(-1) === 'http' ? 'http' : 'https';
  const called = requestContext.path.replace(/\/$/, '').split('/');
  const prefix = called.slice(0, called.length + 1 - path.split('/').length).join('/');
  return `${scheme}://${requestContext.domainName}${prefix}`;
}

/** Returns parameters by name: single values as strings, repeated values as arrays. */
function singleValues(parameters: [name: string, values: string[] | undefined][]): Record<string, unknown> {
  const sent = parameters.filter(([, values]) => values && values.length > 0);
  return Object.fromEntries(sent.map(([name, values]) => [name, values?.length === 1 ? values[0] : values]));
}

function readBody(event: APIGatewayProxyEvent, bytes: Buffer): Record<string, unknown> {
  requireJson(event);
  if (bytes.length > MAX_BODY_BYTES) throw new ApiError('request_too_large');
  const text = bytes.toString();
  // API Gateway and `toString` replace bytes that are not UTF-8 with this character.
  if (text.includes(REPLACEMENT_CHARACTER))
    throw new ApiError(
      'invalid_request',
      'The body must be encoded in UTF-8, and must not contain the replacement character U+FFFD.',
    );
  const body = parseBody(text);
  const type = jsonTypeOf(body);
  // The message names the type, because a string usually shows that the client converted the body to JSON twice.
  if (type !== 'object')
    throw new ApiError('invalid_request', `The body must be a JSON object, not ${type}.`);
  return body as Record<string, unknown>;
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'bigint') return 'a number';
  return typeof value === 'object' ? 'object' : `a ${typeof value}`;
}

/**
 * Checks that the headers allow a body of uncompressed JSON in UTF-8.
 *
 * @throws ApiError `unsupported_media_type` if a header declares another format.
 */
function requireJson(event: APIGatewayProxyEvent): void {
  const contentType = headerValues(event, 'Content-Type').at(-1)?.toLowerCase() ?? '';
  const mediaType = contentType.split(';')[0]!.trim();
  if (mediaType !== '' && !isJson(mediaType))
    throw new ApiError(
      'unsupported_media_type',
      'Content-Type must be application/json, another application type ending in +json, or omitted.',
    );
  for (const [, name, value = ''] of contentType.matchAll(PARAMETER)) {
    if (name === 'charset' && !['utf-8', '"utf-8"', 'utf8', '"utf8"'].includes(value))
      throw new ApiError('unsupported_media_type', 'The charset of Content-Type must be utf-8 or omitted.');
  }
  // AWS documents that API Gateway decompresses bodies, but not whether it then removes this header.
  // https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-make-request-with-compressed-payload.html
  const codings = headerValues(event, 'Content-Encoding').join().split(',');
  if (codings.some((coding) => !['', 'identity'].includes(coding.trim().toLowerCase())))
    throw new ApiError('unsupported_media_type', 'Content-Encoding must be identity or omitted.');
}

/** Returns whether a media type in lower case is `application/json`, or has the suffix `+json` (RFC 6839). */
function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || /^application\/[^\s/]+\+json$/.test(mediaType);
}

function parseBody(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new ApiError('invalid_request', jsonProblem(text, cause as Error), { cause });
  }
}

function jsonProblem(text: string, error: Error): string {
  if (error instanceof RangeError) return 'The body is nested too deeply. Use at most 1,000 levels.';
  if (text.trim() === '') return 'The body is missing. It must be a JSON object.';
  if (text.startsWith(BYTE_ORDER_MARK)) return 'The body must not start with a byte order mark.';
  const [, line, column] = JSON_POSITION.exec(error.message) ?? [];
  if (line === undefined)
    return 'The body is not valid JSON. Check for missing quotes, and for values such as NaN, None or undefined.';
  return `The body is not valid JSON at line ${line}, column ${column}.`;
}

/** Returns a problem if there are unknown query parameters, because ignoring a misspelled filter would list wrong items. */
function unknownParameters(names: string[], query?: Fields): string[] {
  const known = Object.keys(query?.entries ?? {});
  const unknown = names.filter((name) => !known.includes(name)).map((name) => `"${name}"`);
  if (unknown.length === 0) return [];
  return [`unknown query parameters: ${unknown.join(', ')} (known: ${known.join(', ') || 'none'})`];
}

/** Returns all values of a header. Header names are case-insensitive, so they are compared in lower case. */
function headerValues({ multiValueHeaders }: APIGatewayProxyEvent, name: string): string[] {
  const sent = Object.entries(multiValueHeaders ?? {});
  return sent.flatMap(([key, values = []]) => (key.toLowerCase() === name.toLowerCase() ? values : []));
}
