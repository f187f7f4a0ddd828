import { unescape } from 'node:querystring';
import { parseJson } from '../../shared/contract/json.ts';
import {
  type DocumentedResponse,
  type DocumentedOperation,
  type Examples,
  type OpenApiDocument,
  openApiDocument,
} from './openapi-document.ts';

// These checks compare requests and responses with openapi.json. Each response must be documented. A request that the
// document does not allow must not get a 2xx. A request that the document allows must not get a 400, unless it breaks a
// rule that OpenAPI cannot express.

export interface Exchange {
  method: string;
  /** Path and query, relative to the base URL, such as '/books?limit=5'. */
  target: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
  /**
   * Whether a 400 is allowed even if the document allows the request, because OpenAPI cannot express all rules. For
   * example, the service rejects a cursor whose position is not positive. @default false
   */
  mayBeRejected?: boolean | undefined;
  response: { status: number; headers: Record<string, string> | Headers; text: string };
}

/** Response headers that the document does not list, because all responses have them or AWS adds them. */
const UNDOCUMENTED_HEADERS =
  /^(cache-control|strict-transport-security|x-content-type-options|connection|keep-alive|transfer-encoding|date|via|content-(type|length)|x-amz-.*|x-amzn-(trace-id|errortype))$/;

/** Depth of nested arrays and objects that the service must accept. */
const MAX_DEPTH = 1_000;

/** Reads openapi.json and returns checks against it. */
export function contract() {
  const document = openApiDocument();
  const { operations } = document;
  return {
    /** The documented responses by name, such as `getBook 404`. */
    responses: new Map<string, DocumentedResponse>(
      operations.flatMap(({ id, responses }) =>
        Object.entries(responses).map(([status, response]) => [`${id} ${status}`, response] as const),
      ),
    ),
    /** The documented example requests by operation id. */
    examples: Object.fromEntries(operations.map(({ id, example }) => [id, example])) as Examples,
    /** Returns a response's name, such as `getBook 404`, or undefined if no operation matches the request. */
    nameOf: (exchange: Exchange): string | undefined => {
      const operation = operationOf(document, exchange);
      return operation && `${operation.id} ${exchange.response.status}`;
    },
    /** Returns a message for each contradiction between the exchange and openapi.json. */
    contradictions: (exchange: Exchange) => contradictions(document, exchange),
  };
}

function operationOf(document: OpenApiDocument, exchange: Exchange): DocumentedOperation | undefined {
  const target = parseTarget(exchange);
  return document.operations.find(({ method, path }) => method === exchange.method && path.test(target.path));
}

function contradictions(document: OpenApiDocument, exchange: Exchange): string[] {
  const { method, target, response } = exchange;
  const operation = operationOf(document, exchange);
  const documented = (operation?.responses ?? otherResponses(document))[response.status];
  const problems = documented ? responseProblems(document, exchange, documented) : ['is not documented'];

  const invalid = operation ? requestProblems(document, exchange, operation) : [];
  if (response.status < 300 && invalid.length > 0) {
    problems.push(`is a 2xx response, but the document does not allow the request: ${invalid.join('; ')}`);
  }
  const mayBeRejected = exchange.mayBeRejected || (operation?.body && isExtremeBody(exchange));
  if (operation && response.status === 400 && invalid.length === 0 && !mayBeRejected) {
    problems.push('rejects the request, but the document allows the request');
  }
  return problems.map((problem) => `The response ${response.status} to ${method} ${target} ${problem}`);
}

/**
 * Returns the responses to requests that match no operation. The document describes these responses only in a sentence.
 */
function otherResponses({ operations }: OpenApiDocument): Record<string, DocumentedResponse> {
  const error = operations[0]!.responses[400]!;
  const allow = { required: true, schema: { type: 'string' }, example: 'GET, POST' };
  const withAllow = { ...error, headers: { ...error.headers, Allow: allow } };
  return { 400: error, 404: error, 405: withAllow, 413: error, 415: error };
}

function responseProblems(
  document: OpenApiDocument,
  { method, response }: Exchange,
  { headers, mediaTypes, schema }: DocumentedResponse,
): string[] {
  const received = new Headers(response.headers);
  const mediaType = received.get('Content-Type')?.replace('; charset=utf-8', '') ?? 'none';
  const documentedNames = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const undocumented = [...received.keys()].filter(
    (name) => !documentedNames.has(name) && !UNDOCUMENTED_HEADERS.test(name),
  );
  return [
    ...((schema ? mediaTypes : ['none']).includes(mediaType) ? [] : [`has a wrong media type: ${mediaType}`]),
    ...undocumented.map((name) => `has an undocumented header: ${name}`),
    ...Object.entries(headers).flatMap(([name, header]) => {
      const value = received.get(name);
      if (value === null) return header.required ? [`has no ${name} header`] : [];
      return document.complaints(
        header.schema,
        header.schema.type === 'integer' ? Number(value) : value,
        name,
      );
    }),
    ...(method === 'HEAD' ? [] : bodyComplaints(document, schema, response.text)),
  ];
}

function bodyComplaints({ complaints }: OpenApiDocument, schema: object | undefined, text: string): string[] {
  if (!schema) return text === '' ? [] : ['has a body'];
  return complaints(schema, asValidated(parseJson(text)), 'body');
}

function requestProblems(
  document: OpenApiDocument,
  exchange: Exchange,
  { path, parameters, body }: DocumentedOperation,
): string[] {
  const target = parseTarget(exchange);
  const values = {
    path: (name: string) => [unescape(path.exec(target.path)!.groups![name]!)],
    query: (name: string) => target.query.getAll(name),
    header: (name: string) => [new Headers(exchange.headers).get(name) ?? []].flat(),
  };
  const problems = parameters.flatMap(({ name, in: location, schema }) => {
    const [value, ...more] = values[location](name);
    if (more.length > 0) return [`${name} is sent twice`];
    if (value === undefined) return [];
    const isInteger = 'type' in schema && schema.type === 'integer' && /^(?:0|-?[1-9]\d*)$/.test(value);
    return document.complaints(schema, isInteger ? asValidated(BigInt(value)) : value, name);
  });
  const known = new Set(parameters.filter((one) => one.in === 'query').map(({ name }) => name));
  for (const name of target.query.keys()) if (!known.has(name)) problems.push(`${name} is unknown`);
  return body ? [...problems, ...bodyProblems(document, exchange, body)] : problems;
}

function bodyProblems({ complaints }: OpenApiDocument, { body = '' }: Exchange, schema: object): string[] {
  try {
    return complaints(schema, asValidated(parseJson(Buffer.from(body).toString())), 'body');
  } catch (error) {
    // Bodies that are nested too deeply are ignored, because the depth that the parser supports depends on the stack size.
    return error instanceof RangeError ? [] : [(error as Error).message];
  }
}

/** Returns whether the service may reject the body even if it matches the schema of the request body. */
function isExtremeBody({ body = '' }: Exchange): boolean {
  const text = Buffer.from(body).toString();
  return text.includes('\ufffd') || depthOf(text) > MAX_DEPTH || hasBlankText(text);
}

/** Returns whether a text in the body is blank. Some fields must not be blank, but the document says so only in words. */
function hasBlankText(json: string): boolean {
  let found = false;
  try {
    JSON.parse(json, (_key, value) => {
      found ||= typeof value === 'string' && !/[^\s\p{Cc}]/u.test(value);
    });
  } catch {
    return false;
  }
  return found;
}

/** Returns how deeply the arrays and objects in a JSON text are nested. */
function depthOf(json: string): number {
  const withoutStrings = json.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, '');
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of withoutStrings.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/**
 * Converts the result of `parseJson` for validators that do not support bigint. If the validators would wrongly accept
 * a value, replaces the value with an invalid one.
 */
function asValidated(value: unknown): unknown {
  if (typeof value === 'bigint') {
    // Integers outside int64 are replaced, because the validator accepts every integer as an `int64`.
    return BigInt.asIntN(64, value) === value ? Number(value) : 0.5;
  }
  // For integers below 1e19, `parseJson` returns a bigint. A number without a fraction was therefore rounded, and is
  // replaced.
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e19) return 0.5;
  // Strings that the published schemas forbid only in words are replaced.
  if (typeof value === 'string' && (!value.isWellFormed() || value.includes('\ufffd'))) return null;
  if (Array.isArray(value)) return value.map(asValidated);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asValidated(member)]));
}

function parseTarget({ target }: Exchange) {
  const [, path = '', query] = /^([^?]*)(.*)$/s.exec(target)!;
  return { path, query: new URLSearchParams(query) };
}
