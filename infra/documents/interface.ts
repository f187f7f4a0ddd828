import { STATUS_CODES } from 'node:http';
import type * as v from 'valibot';
import { encodeCursor } from '../../shared/contract/cursor.ts';
import type { Collection, PublishedCollection } from '../../shared/contract/collection.ts';
import { errorBody, errorCatalog, type ErrorCode } from '../../shared/contract/errors.ts';
import { EXAMPLE_IDS, missingMessage } from '../../shared/contract/fields.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections } from '../../shared/contract/operations.ts';
import type { StageSettings } from '../settings.ts';
import { stages } from '../stages.ts';
import { codeBlock, markdownList, markdownTable } from './markdown.ts';
import { PRODUCTION_DOMAIN } from './openapi/headers.ts';

const AUTHORIZATION = `-H "Authorization: Bearer $API_KEY"`;
const CONTENT_TYPE = "-H 'Content-Type: application/json'";
const IDEMPOTENCY_KEY = `-H 'Idempotency-Key: "0b7c3f7a-6a51-4e0e-9f0c-2d1a8c5e4b93"'`;
/** Base URL in the headers of example responses, which are those of the local service. */
const BASE_URL = 'http://localhost:3000/v1';

const RETRY = '[Retry](#rules-for-retries).';
const WAIT_AND_RETRY =
  'Wait for the number of seconds in the `Retry-After` header, then [retry](#rules-for-retries).';
const MAY_BE_STORED = 'After a create, the item may be stored.';

/** What clients should do after an error response, by error code, in Markdown for docs/interface.md. */
const advice: Record<ErrorCode, string> = {
  invalid_request: 'Correct what `message` lists. Do not retry the request unchanged.',
  unauthorized:
    'Check that you send the whole key, to the stage for which it was issued. If you do, [ask the operator](#api-keys).',
  forbidden: 'If the request is valid, ask the operator.',
  not_found:
    'Check that the URL starts with your base URL. If it does and ends with an id, no item has this id.',
  method_not_allowed: 'Use a method that the `Allow` header lists.',
  request_too_large: 'Send a smaller body.',
  unsupported_media_type:
    'Send [uncompressed JSON in UTF-8](#encoding-of-the-body), and the headers that declare it.',
  idempotency_key_reused:
    'Find out why your program used a key for two items. Then send the second item with a key of its own.',
  too_many_requests: `${WAIT_AND_RETRY} Send requests more slowly.`,
  internal_error: `${RETRY} If the error persists, send the request id to the operator. ${MAY_BE_STORED}`,
  service_unavailable: `${WAIT_AND_RETRY} ${MAY_BE_STORED}`,
  gateway_timeout: `${RETRY} ${MAY_BE_STORED}`,
};

type Parts = Record<string, Record<string, string>>;

/**
 * Returns the generated parts of documents that show the contract, by file and name: tables and lists of the contract,
 * and examples of requests with their responses.
 *
 * @param contract the OpenAPI document without references
 */
export function interfaceParts(contract: any): Parts {
  const [first] = collections;
  const { path } = first;
  const [complete] = examplesOf(contract, path);
  const [, filters = []] = first.filterCombinations as Collection['filterCombinations'];
  const filter = filters.map((name) => `${name}=${String(complete[name])}&`).join('');
  const sectionsOf = (section: typeof createSection) =>
    collections.map((collection) => section(contract, collection)).join('\n');
  return {
    'README.md': {
      create: createExample(contract, path, complete, IDEMPOTENCY_KEY),
      list: getRequest(`${path}?${filter}limit=10`) + codeBlock('json', stringifyJson([stored(complete)])),
    },
    'docs/architecture.md': { request: createExample(contract, path, complete, IDEMPOTENCY_KEY) },
    'docs/api-keys.md': { list: codeBlock('sh', `LIST="${urlOf(path)}?limit=1"`) },
    'docs/interface.md': {
      'first request': createExample(contract, path, complete),
      operations: operationTable(contract),
      create: sectionsOf(createSection),
      list: sectionsOf(listSection),
      get: sectionsOf(getSection),
      'first attempt': createRequest(path, complete, IDEMPOTENCY_KEY),
      retry: createExample(contract, path, complete, IDEMPOTENCY_KEY),
      error: errorExample(contract, first),
      'hidden key': listWithHiddenKey(`${path}?limit=1`),
      errors: errorTable(),
      limits: limitTable(),
    },
    'docs/security.md': { rates: rateTable() },
  };
}

export function operationTable(contract: any): string {
  const rows = Object.entries<any>(contract.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, operation]) => {
      const { operationId, summary, responses, 'x-stability': stability, 'x-sunset': sunset } = operation;
      const notes = [stability, sunset && `deprecated, removal on ${sunset}`].filter(Boolean).join(', ');
      return [
        `\`${operationId}\``,
        `\`${method.toUpperCase()} ${path}\``,
        notes ? `${summary} (${notes})` : summary,
        Object.keys(responses)[0]!,
      ];
    }),
  );
  return markdownTable(['operation', 'request', 'purpose', 'success'], rows, '---');
}

/** Returns the section about an operation that creates an item. */
function createSection(contract: any, { path, singular, operations }: PublishedCollection): string {
  const [complete, minimal] = examplesOf(contract, path);
  const sent = bodySchema(contract, path);
  const { schema } = createOf(contract, path).responses[201].content['application/json'];
  const assigned = Object.entries<any>(schema.properties).filter(([name]) => !(name in sent.properties));
  // The page starts with an example that creates a complete item of the first collection, so only the sections of the
  // other collections need one.
  const isFirst = path === collections[0].path;
  return [
    ...headingOf(operations.create),
    `The body of \`POST ${withoutVersion(path)}\` is a JSON object with these fields:\n`,
    fieldList(Object.entries(sent.properties), sent.required),
    `Responses contain the ${singular} with the same fields, and a field that the service adds:\n`,
    fieldList(assigned, schema.required),
    ...(isFirst ? [] : [`This request creates a ${singular}:\n`, createExample(contract, path, complete)]),
    `This request creates a ${singular} with only the required fields:\n`,
    createExample(contract, path, minimal),
  ].join('\n');
}

/** Returns the section about an operation that lists a collection. */
function listSection(contract: any, collection: PublishedCollection): string {
  const { path, singular, plural, operations, filterCombinations } = collection;
  const list = contract.paths[withoutVersion(path)].get;
  const [, minimal] = examplesOf(contract, path);
  const combinations = filterCombinations.filter((names) => names.length > 1);
  const combinable = combinations.map((names) => names.map((name) => `\`${name}\``).join(' and '));
  return [
    ...headingOf(operations.list),
    `\`GET ${withoutVersion(path)}\` returns an array of ${plural}. It has these query parameters:\n`,
    parameterList(list.parameters),
    ...(combinable.length > 0 ? [`You can combine these filters: ${combinable.join('; ')}.\n`] : []),
    `This request gets a page with one ${singular}:\n`,
    getRequest(`${path}?limit=1`, '-i') +
      responseBlock(list, 200, [stored(minimal)], { Link: nextPageLink(collection) }),
  ].join('\n');
}

/** Returns the section about an operation that gets an item. */
function getSection(contract: any, { path, singular, operations }: PublishedCollection): string {
  const url = withoutVersion(operations.get.path);
  const { get } = contract.paths[url];
  const [, minimal] = examplesOf(contract, path);
  return [
    ...headingOf(operations.get),
    `${get.description}\n`,
    `The URL of \`GET ${url}\` contains this parameter:\n`,
    parameterList(get.parameters),
    `This request gets a ${singular}:\n`,
    getRequest(`${path}/${EXAMPLE_IDS[0]}`, '-i') + responseBlock(get, 200, stored(minimal)),
  ].join('\n');
}

/** Returns a heading for an operation, unless the API has a single collection, whose operations need no headings. */
function headingOf({ id }: Operation): string[] {
  return collections.length > 1 ? [`### \`${id}\`\n`] : [];
}

/** Returns a Markdown list of fields. If clients send a field, its description contains the rules for its values. */
function fieldList(fields: [name: string, schema: any][], required: string[]): string {
  return markdownList(
    fields.map(([name, schema]) => {
      const presence = required.includes(name) ? 'required' : 'optional';
      return `**\`${name}\`** (${typeOf(schema)}, ${presence}): ${schema.description}`;
    }),
  );
}

function parameterList(parameters: any[]): string {
  return markdownList(
    parameters.map(({ name, schema, description }: any) => {
      const defaultText = schema.default === undefined ? '' : `, default ${schema.default}`;
      return `**\`${name}\`** (${typeOf(schema)}${defaultText}): ${description}`;
    }),
  );
}

function errorTable(): string {
  const rows = Object.entries(errorCatalog).map(([code, { status, description }]) => [
    `${status} \`${code}\``,
    description,
    advice[code as ErrorCode],
  ]);
  return markdownTable(['status and code', 'cause', 'what to do'], rows, '---');
}

function limitTable(): string {
  const rows = Object.entries<StageSettings>(stages).map(([stage, settings]) => [
    stage,
    `${number(settings.requestsPerSecond)} per second, bursts of ${number(settings.requestBurst)}`,
    `${number(settings.createsPerSecond)} per second, bursts of ${number(settings.createBurst)}`,
    perMinute(clientLimits(settings)?.requestsPerMinutePerIp),
    perMinute(clientLimits(settings)?.requestsPerMinutePerKey),
  ]);
  const header = ['stage', 'list and get, each', 'create', 'per IP address', 'per API key'];
  return markdownTable(header, rows, '---');
}

/** Returns the table of how many API keys and IP addresses are needed to use up all creates or all lists of a stage. */
function rateTable(): string {
  const rows = Object.entries<StageSettings>(stages).map(([stage, settings]) => {
    const { createsPerSecond, requestsPerSecond } = settings;
    const limits = clientLimits(settings);
    const clients = (perSecond: number) => {
      const keys = clientsFor(perSecond, limits?.requestsPerMinutePerKey);
      const addresses = clientsFor(perSecond, limits?.requestsPerMinutePerIp);
      return `${keys} ${keys === 1 ? 'key' : 'keys'}, ${addresses} IP ${addresses === 1 ? 'address' : 'addresses'}`;
    };
    return [stage, clients(createsPerSecond), clients(requestsPerSecond), number(60 * createsPerSecond)];
  });
  return markdownTable(['stage', 'all creates', 'all lists', '60 × `createsPerSecond`'], rows, '---');
}

/**
 * Returns how many keys or addresses are needed to send `perSecond` requests per second.
 *
 * @param limit requests per minute that each key or address can send @default - no limit
 */
const clientsFor = (perSecond: number, limit = 60 * perSecond) => Math.ceil((60 * perSecond) / limit);

/** Returns a request that creates an item, and the whole response. @param options more options of curl */
function createExample(contract: any, path: string, item: object, ...options: string[]): string {
  const request = createRequest(path, item, ...options);
  return request + responseBlock(createOf(contract, path), 201, stored(item));
}

function createRequest(path: string, item: object, ...options: string[]): string {
  const others = [...options, `-d '${stringifyJson(item)}'`].join(' ');
  return codeBlock('sh', `curl -i "${urlOf(path)}" ${AUTHORIZATION} ${CONTENT_TYPE} \\\n  ${others}`);
}

/** Returns a `GET` request. @param options more options of curl */
function getRequest(pathAndQuery: string, ...options: string[]): string {
  return codeBlock('sh', ['curl', ...options, `"${urlOf(pathAndQuery)}"`, AUTHORIZATION].join(' '));
}

function listWithHiddenKey(pathAndQuery: string): string {
  const header = `printf 'header = "Authorization: Bearer %s"\\n' "$API_KEY"`;
  return codeBlock('sh', `${header} | curl --config - "${urlOf(pathAndQuery)}"`);
}

function nextPageLink({ path, cursorPrefix }: Collection): string {
  const cursor = encodeCursor(cursorPrefix, EXAMPLE_IDS[0], {});
  return `<${BASE_URL}${withoutVersion(path)}?limit=1&cursor=${cursor}>; rel="next"`;
}

/** Returns a create without any fields, and its error response. */
function errorExample(contract: any, { path, operations }: (typeof collections)[0]): string {
  const fields: v.ObjectEntries = operations.create.request.entries.body.entries;
  const { required } = bodySchema(contract, path);
  const missing = required.map((name: string) => `${name} ${missingMessage(fields[name]!)}`);
  const { code, message, status } = errorBody('invalid_request', `${missing.join('; ')}.`);
  const response = responseBlock(createOf(contract, path), status, { code, message, status });
  return createRequest(path, {}) + response;
}

/**
 * Returns a whole response of the local service, except for headers about the connection, the length and the date.
 *
 * @param operation operation in the OpenAPI document, whose examples of headers become the headers
 * @param replaced values by header name, which replace the examples of these headers
 */
function responseBlock(operation: any, status: number, body: object, replaced: Record<string, string> = {}) {
  const { 'x-amzn-RequestId': requestId, ...others } = operation.responses[status].headers;
  const lines = Object.entries<any>(others).map(([name, { example }]) => {
    const value: string = replaced[name] ?? String(example);
    return `${name}: ${value.replace(`https://${PRODUCTION_DOMAIN}/v1`, BASE_URL)}`;
  });
  return codeBlock(
    'http',
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      'Cache-Control: no-store',
      ...lines,
      `x-amzn-RequestId: ${requestId.example}`,
      '',
      stringifyJson(body),
    ].join('\n'),
  );
}

/** Returns two items to create: the documented example, and the same example without its optional fields. */
function examplesOf(contract: any, path: string): [complete: Record<string, unknown>, minimal: object] {
  const { requestBody } = createOf(contract, path);
  const { example, schema } = requestBody.content['application/json'];
  const required = Object.entries(example).filter(([name]) => schema.required.includes(name));
  return [example, Object.fromEntries(required)];
}

/** Returns an item as in the response to a create. */
const stored = (item: object) => ({ id: EXAMPLE_IDS[0], ...item });
const createOf = ({ paths }: any, path: string) => paths[withoutVersion(path)].post;
const bodySchema = (contract: any, path: string) =>
  createOf(contract, path).requestBody.content['application/json'].schema;
const withoutVersion = (path: string) => path.replace('/v1', '');
const urlOf = (path: string) => `$BASE_URL${withoutVersion(path)}`;
/** Returns the limits per client, which only a blocking firewall enforces. */
const clientLimits = ({ firewall }: StageSettings) => (firewall?.action === 'block' ? firewall : undefined);
const perMinute = (limit?: number) => (limit === undefined ? 'none' : `${number(limit)} per minute`);
const number = (value: number) => value.toLocaleString('en');

function typeOf({ type, format, minimum, maximum, minLength, maxLength, ...schema }: any): string {
  if (schema.enum) return `one of ${schema.enum.map((value: string) => `\`${value}\``).join(', ')}`;
  if (maxLength !== undefined) return `${type} of ${minLength ?? 0} to ${maxLength} characters`;
  if (maximum !== undefined) return `${type} from ${minimum} to ${maximum}`;
  return format ?? type;
}
