import type * as v from 'valibot';
import { encodeCursor } from '../../shared/contract/cursor.ts';
import type { Collection } from '../../shared/contract/collection.ts';
import { errorBody, errorCatalog } from '../../shared/contract/errors.ts';
import { EXAMPLE_IDS, missingMessage } from '../../shared/contract/fields.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { collections } from '../../shared/contract/operations.ts';
import type { StageSettings } from '../settings.ts';
import { stages } from '../stages.ts';
import { codeBlock, markdownList, markdownTable } from './markdown.ts';

const AUTHORIZATION = `-H "Authorization: Bearer $API_KEY"`;
const CONTENT_TYPE = "-H 'Content-Type: application/json'";
/** Base URL in the examples, which run against the local service. */
const BASE_URL = 'http://localhost:3000/v1';

type Parts = Record<string, Record<string, string>>;

/**
 * Returns the generated parts of the documents for clients: tables and lists of the contract, and examples of requests
 * for the first collection.
 *
 * @param contract the OpenAPI document without references
 */
export function interfaceParts(contract: any): Parts {
  const [first] = collections;
  const { path } = first;
  const items = examplesOf(contract, path);
  const [complete] = items;
  const [, filters = []] = first.filterCombinations as Collection['filterCombinations'];
  const filter = filters.map((name) => `${name}=${String(complete[name])}&`).join('');
  return {
    'README.md': {
      create: createExample(path, complete),
      list: list(`${path}?${filter}limit=10`) + codeBlock('json', stringifyJson([stored(complete)])),
    },
    'docs/api-keys.md': { list: codeBlock('sh', `LIST="${urlOf(path)}?limit=1"`) },
    'docs/interface.md': {
      operations: operationTable(contract),
      collections: collections.map((collection) => collectionSection(contract, collection)).join('\n'),
      retry: createWithKey(path, complete),
      list: list(`${path}?limit=1`, '-i '),
      'next page': nextPage(first),
      error: errorExample(contract, first),
      'hidden key': listWithHiddenKey(`${path}?limit=1`),
      errors: errorList(),
      limits: limitTable(),
    },
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

/** Returns the section about a collection: its fields, an example, and the query parameters of its list. */
function collectionSection(contract: any, { path, plural, singular }: Collection): string {
  const [, minimal] = examplesOf(contract, path);
  return [
    `## ${plural.charAt(0).toUpperCase()}${plural.slice(1)}\n`,
    `Each ${singular} has these fields:\n`,
    fieldList(contract, path),
    createExample(path, minimal),
    `\`GET ${withoutVersion(path)}\` has these query parameters:\n`,
    parameterList(contract, path),
  ].join('\n');
}

/** Returns a Markdown list of a collection's fields. Their descriptions contain the rules for requests. */
function fieldList(contract: any, path: string): string {
  const sent = bodySchema(contract, path);
  const stored = createOf(contract, path).responses[201].content['application/json'].schema;
  return markdownList(
    Object.entries<any>({ ...stored.properties, ...sent.properties }).map(([name, schema]) => {
      const presence = stored.required.includes(name) ? 'required' : 'optional';
      return `**\`${name}\`** (${typeOf(schema)}, ${presence}): ${schema.description}`;
    }),
  );
}

function parameterList(contract: any, path: string): string {
  const { parameters } = contract.paths[withoutVersion(path)].get;
  return markdownList(
    parameters.map(({ name, schema, description }: any) => {
      const defaultText = schema.default === undefined ? '' : `, default ${schema.default}`;
      return `**\`${name}\`** (${typeOf(schema)}${defaultText}): ${description}`;
    }),
  );
}

function errorList(): string {
  const lines = Object.entries(errorCatalog).map(
    ([code, { status, description }]) => `**${status} \`${code}\`**: ${description}`,
  );
  return markdownList(lines);
}

function limitTable(): string {
  const rows = Object.entries<StageSettings>(stages).map(([stage, { firewall, ...settings }]) => [
    stage,
    `${number(settings.requestsPerSecond)} per second, bursts of ${number(settings.requestBurst)}`,
    `${number(settings.createsPerSecond)} per second, bursts of ${number(settings.createBurst)}`,
    perMinute(firewall, 'requestsPerMinutePerIp'),
    perMinute(firewall, 'requestsPerMinutePerKey'),
  ]);
  const header = ['stage', 'list and get, each', 'create', 'per IP address', 'per API key'];
  return markdownTable(header, rows, '---');
}

function createExample(path: string, item: object): string {
  return create(path, item) + codeBlock('json', stringifyJson(stored(item)));
}

function create(path: string, item: object): string {
  return codeBlock(
    'sh',
    `curl "${urlOf(path)}" ${AUTHORIZATION} ${CONTENT_TYPE} \\\n  -d '${stringifyJson(item)}'`,
  );
}

function createWithKey(path: string, item: object): string {
  const key = `-H 'Idempotency-Key: "0b7c3f7a-6a51-4e0e-9f0c-2d1a8c5e4b93"'`;
  return codeBlock(
    'sh',
    `curl -i "${urlOf(path)}" ${AUTHORIZATION} ${CONTENT_TYPE} \\\n  ${key} -d '${stringifyJson(item)}'`,
  );
}

function list(pathAndQuery: string, options = ''): string {
  return codeBlock('sh', `curl ${options}"${urlOf(pathAndQuery)}" ${AUTHORIZATION}`);
}

function listWithHiddenKey(pathAndQuery: string): string {
  const header = `printf 'header = "Authorization: Bearer %s"\\n' "$API_KEY"`;
  return codeBlock('sh', `${header} | curl --config - "${urlOf(pathAndQuery)}"`);
}

function nextPage({ path, cursorPrefix }: Collection): string {
  const cursor = encodeCursor(cursorPrefix, EXAMPLE_IDS[0], {});
  return codeBlock('http', `Link: <${BASE_URL}${withoutVersion(path)}?limit=1&cursor=${cursor}>; rel="next"`);
}

/** Returns a request without any fields, and its error response. */
function errorExample(contract: any, { path, operations }: (typeof collections)[0]): string {
  const fields: v.ObjectEntries = operations.create.request.entries.body.entries;
  const { required } = bodySchema(contract, path);
  const missing = required.map((name: string) => `${name} ${missingMessage(fields[name]!)}`);
  const { code, message, status } = errorBody('invalid_request', `${missing.join('; ')}.`);
  return create(path, {}) + codeBlock('json', stringifyJson({ code, message, status }));
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
const perMinute = (firewall: StageSettings['firewall'], limit: `requestsPerMinutePer${'Ip' | 'Key'}`) =>
  firewall?.action === 'block' ? `${number(firewall[limit])} per minute` : 'none';
const number = (value: number) => value.toLocaleString('en');

function typeOf({ type, format, minimum, maximum, minLength, maxLength, ...schema }: any): string {
  if (schema.enum) return `one of ${schema.enum.map((value: string) => `\`${value}\``).join(', ')}`;
  if (maxLength !== undefined) return `${type} of ${minLength ?? 0} to ${maxLength} characters`;
  if (maximum !== undefined) return `${type} from ${minimum} to ${maximum}`;
  return format ?? type;
}
