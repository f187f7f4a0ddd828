import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parseJson } from '../../shared/contract/json.ts';
import {
  type DocumentedAnswer,
  type DocumentedOperation,
  type OpenApiDocument,
  openApiDocumentOf,
  readOpenApi,
} from './openapi-document.ts';

// Holds requests and answers against the document, both ways: what it does not have must not happen, and a request is
// refused as invalid exactly when the document says that it is.

/** A request as it was sent and the answer to it. */
export interface Exchange {
  method: string;
  /** Path and query below the base address: `/pets?limit=5`. */
  target: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
  answer: { status: number; headers: Record<string, string> | Headers; text: string };
}

/** Operation and status of an answer: `getPet 404`, or `other 405` for what is no operation. */
export type AnswerName = `${string} ${string}`;

/** Headers of the connection and the message (RFC 9110 sections 6.6.1, 7.6, 8.6), and AWS's own beside the request id. */
const UNDOCUMENTED_HEADERS =
  /^(connection|keep-alive|transfer-encoding|date|via|content-length|x-amz-.*|x-amzn-(trace-id|errortype))$/;

const ajv = new Ajv2020();
addFormats.default(ajv);

/** The contract that a document makes, by default that of `openapi.json`. */
export function contract(source: unknown = readOpenApi()) {
  const document = openApiDocumentOf(source);
  return {
    /** Every answer that is documented. */
    answers: answersOf(document),
    nameOf: (exchange: Exchange): AnswerName =>
      `${operationOf(document, exchange)?.id ?? 'other'} ${exchange.answer.status}`,
    /** What of the exchange contradicts the document, each as a sentence. */
    contradictions: (exchange: Exchange) => contradictions(document, exchange),
  };
}

function answersOf({ operations, others }: OpenApiDocument): Map<AnswerName, DocumentedAnswer> {
  return new Map(
    [...operations, { id: 'other', answers: others }].flatMap(({ id, answers }) =>
      Object.entries(answers).map(([status, answer]): [AnswerName, DocumentedAnswer] => [
        `${id} ${status}`,
        answer,
      ]),
    ),
  );
}

function operationOf(document: OpenApiDocument, exchange: Exchange): DocumentedOperation | undefined {
  return document.operations.find(
    ({ method, path }) => method === exchange.method && path.test(pathOf(exchange)),
  );
}

function contradictions(document: OpenApiDocument, exchange: Exchange): string[] {
  const { method, target, answer } = exchange;
  const operation = operationOf(document, exchange);
  const documented = (operation?.answers ?? document.others)[answer.status];
  const problems = documented ? answerProblems(exchange, documented) : ['is not documented'];

  const invalid = operation ? requestProblems(exchange, operation) : [];
  if (answer.status < 300 && invalid.length > 0) {
    problems.push(`is a success, but the document forbids the request: ${invalid.join('; ')}`);
  }
  if (operation && answer.status === 400 && invalid.length === 0 && !breaksOtherRule(exchange)) {
    problems.push('says that the request is invalid, but the document allows it');
  }
  const isNowhere = answer.text.includes('There is nothing at this address.');
  if (operation && answer.status === 404 && isNowhere !== invalid.length > 0) {
    problems.push(
      isNowhere
        ? 'says that there is no such address, but the document has it'
        : 'takes the id for one that may be, but the document forbids it',
    );
  }
  return problems.map((problem) => `The answer ${answer.status} to ${method} ${target} ${problem}`);
}

function answerProblems(
  { method, answer }: Exchange,
  { headers, mediaTypes, schema }: DocumentedAnswer,
): string[] {
  const { 'content-type': mediaType = 'none', ...others } = Object.fromEntries(new Headers(answer.headers));
  const received = new Headers(others);
  const documentedNames = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const undocumented = [...received.keys()].filter(
    (name) => !documentedNames.has(name) && !UNDOCUMENTED_HEADERS.test(name),
  );
  return [
    ...([...mediaTypes, ...(schema ? [] : ['none'])].includes(mediaType)
      ? []
      : [`has another media type: ${mediaType}`]),
    ...undocumented.map((name) => `has a header that is not documented: ${name}`),
    ...Object.entries(headers).flatMap(([name, header]) => {
      const value = received.get(name);
      if (value === null) return header.required ? [`lacks the header ${name}`] : [];
      return complaints(header.schema, value, name);
    }),
    ...(method === 'HEAD' ? [] : bodyComplaints(schema, answer.text)),
  ];
}

function bodyComplaints(schema: object | undefined, text: string): string[] {
  if (!schema) return text === '' ? [] : ['has a body'];
  return complaints(schema, asDoubles(parseJson(text)), 'body');
}

function requestProblems(exchange: Exchange, { path, parameters, body }: DocumentedOperation): string[] {
  const query = new URLSearchParams(exchange.target.replace(/^[^?]*/, ''));
  const given = {
    path: () => [decoded(path.exec(pathOf(exchange))![1]!)],
    query: (name: string) => query.getAll(name),
    header: (name: string) => [new Headers(exchange.headers).get(name) ?? []].flat(),
  };
  const problems = parameters.flatMap(({ name, in: place, schema }) => {
    const [value, ...more] = given[place](name);
    if (more.length > 0) return [`${name} is given twice`];
    if (value === undefined) return [];
    return complaints(schema, 'type' in schema && schema.type === 'integer' ? asJson(value) : value, name);
  });
  return body ? [...problems, ...bodyProblems(exchange, body)] : problems;
}

function bodyProblems({ body = '' }: Exchange, schema: object): string[] {
  try {
    return complaints(schema, asDoubles(parseJson(Buffer.from(body).toString())), 'body');
  } catch (error) {
    return [(error as Error).message];
  }
}

function complaints(schema: object, value: unknown, name: string): string[] {
  return ajv.validate(schema, value) ? [] : [ajv.errorsText(ajv.errors, { dataVar: name })];
}

/** What JSON Schema has no words for, and the document tells in prose: valid HTTP, where cursors come from, lone surrogates. */
function breaksOtherRule({ target, body = '', answer }: Exchange): boolean {
  return (
    answer.text.includes('The request is not valid HTTP') ||
    target.includes('cursor=') ||
    hasLoneSurrogate(Buffer.from(body).toString())
  );
}

function hasLoneSurrogate(json: string): boolean {
  try {
    return /\\ud[89a-f]/.test(JSON.stringify(JSON.parse(json))); // it alone is written as an escape
  } catch {
    return false;
  }
}

/** A parameter's value as JSON, if it reads as an integer; else it is text. */
function asJson(value: string): unknown {
  return /^(?:0|-?[1-9]\d*)$/.test(value) ? asDoubles(BigInt(value)) : value;
}

/** What `parseJson` reads as the numbers that validators know, without making an int64 of what is none. */
function asDoubles(value: unknown): unknown {
  if (typeof value === 'bigint') {
    // 2^63 would be rounded into the range of the document, whose bound is rounded likewise.
    return BigInt.asIntN(64, value) === value ? Number(value) : Number.MAX_VALUE * (value < 0n ? -1 : 1);
  }
  // An integer of this size would have come as a bigint: it is a fraction that was rounded.
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e19) return 0.5;
  if (Array.isArray(value)) return value.map(asDoubles);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asDoubles(member)]));
}

function pathOf({ target }: Exchange): string {
  return target.replace(/\?.*$/s, '');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
