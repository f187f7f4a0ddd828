import type { OperationId } from '../../shared/contract/operations.ts';
import { MAX_BODY_BYTES, PAGE } from '../../shared/contract/limits.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import type { Contract, Exchange } from './contract.ts';
import type { Request } from './faulty-service.ts';

/** What tests need to know of a collection in addition to the contract, as a client and as AWS see it. */
export interface CollectionTests {
  /** Path of the list after the base URL, such as `/books`. */
  path: string;
  /** The table's logical id and keys. If they change, CloudFormation replaces the table with an empty table. */
  table: { logicalId: string; keys: string[] };
  /**
   * Returns a valid item to create, with a value for each field in the order of responses. The values are those that the
   * service stores, so integers are bigints.
   *
   * @param text value of a text field, by which tests recognize their items
   * @param integer value of a field that can be any int64, if there is one
   */
  newItem: (text: string, integer?: bigint) => NewItem;
  /** Fields that can replace fields of `newItem` in a valid item. An undefined field is omitted. */
  variants: Partial<NewItem>[];
  /** For each combination of filters, a query, and variants of items that the filtered list contains and omits. */
  filters: { query: Record<string, string>; contains: Partial<NewItem>; omits: Partial<NewItem>[] }[];
  /** An invalid item, and the message of the 400. */
  invalid: { item: object; message: string };
  /** Tests of each operation, by id. */
  operations: Record<string, OperationTests>;
}

export type NewItem = Record<string, unknown>;

/** Returns `newItem` with other fields. Undefined fields are omitted. */
export function variantOf(newItem: NewItem, fields: Partial<NewItem>): NewItem {
  const members = Object.entries({ ...newItem, ...fields }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(members);
}

/** Data about an operation that tests need in addition to the contract. */
export interface OperationTests {
  /** Method and path of the route, as IAM resources contain them: `GET/v1/books/*`. */
  route: string;
  /** The function's permissions, except those for logs and traces. */
  permissions: Permissions;
  /**
   * Calls by status: one for the success response, one for each error in the operation's contract, and possibly one for
   * a 400. The body of each call's first response must equal the documented example. The calls for the responses of API Gateway are in
   * test/openapi/responses.test.ts.
   */
  responses: Record<number, Call>;
  /** Returns requests that contain the given values. At least one of the requests must be successful. */
  markedRequests: (secrets: Secrets) => MarkedRequest[];
}

/** Actions that an IAM policy allows on resources, such as `dynamodb:GetItem` on `${StorageBooks.Arn}`. */
export interface Permissions {
  actions: string[];
  resources: string[];
}

type Send = (request: Request) => Promise<Exchange>;

/** Sends requests that get the same documented response, and returns the exchanges. */
export type Call = (send: Send, contract: Contract) => Promise<Exchange | Exchange[]>;

/** Unique texts for the parts of requests, such as a header. Tests search logs for these texts. */
export type Secrets = Record<
  'text' | 'integer' | 'unknownField' | 'header' | 'idempotencyKey' | 'query' | 'key' | 'otherKey',
  string
>;

/** A request and the expected status of its response. The default of each path parameter is the id of a stored item. */
export interface MarkedRequest {
  status: number;
  pathParameters?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string;
}

// The functions below return the tests of the three operations that all collections have.

/** Returns the calls of an operation that lists a collection. */
export function listResponses(listId: OperationId, createId: OperationId): OperationTests['responses'] {
  return {
    200: async (send, { examples, responses }) => {
      const { example, headers } = responses.get(`${listId} 200`)!;
      const [newest, next] = example as { id: number }[];
      for (const { id: _id, ...body } of [next!, next!, newest!])
        await send({ ...examples[createId], headers: {}, body: JSON.stringify(body) });
      const { target } = examples[listId];
      const [nextPage] = /\/v1[^>]*/.exec(`${headers['Link']!.example}`)!;
      const complete = target.replace(/\?.*/, `?limit=${PAGE.maximum}`);
      return [await send({ target }), await send({ target: nextPage }), await send({ target: complete })];
    },
  };
}

/** Returns the calls of an operation that creates an item. */
export function createResponses(
  id: OperationId,
  { path, newItem, invalid }: CollectionBasics,
): OperationTests['responses'] {
  const post = { method: 'POST', target: `/v1${path}` };
  return {
    201: (send, { examples }) => send(examples[id]),
    400: (send) => send({ ...post, body: stringifyJson(invalid.item) }),
    413: (send) => send({ ...post, body: ' '.repeat(MAX_BODY_BYTES + 1) }),
    415: (send) => send({ ...post, headers: { 'Content-Type': 'text/plain' } }),
    422: async (send, { examples }) => {
      const headers = { 'Idempotency-Key': '"the same key"' };
      await send({ ...examples[id], headers });
      return send({ ...examples[id], headers, body: stringifyJson(newItem('a different item')) });
    },
  };
}

type CollectionBasics = Pick<CollectionTests, 'path' | 'newItem' | 'invalid'>;

/** Returns the calls of an operation that gets an item. */
export function getResponses({ path }: CollectionBasics, createId: OperationId): OperationTests['responses'] {
  return {
    200: async (send, { examples }) => {
      const { response } = await send(examples[createId]);
      return send({ target: `/v1${path}/${JSON.parse(response.text).id}` });
    },
    404: (send) => send({ target: `/v1${path}/244141843387958` }),
  };
}

/** Returns requests with marked values for an operation that lists a collection. */
export const markedLists: OperationTests['markedRequests'] = ({ query, key, otherKey }) => [
  { status: 200 },
  { status: 400, query: { [query]: '1', api_key: key, Authorization: `Bearer ${otherKey}` } },
  { status: 400, query: { limit: query } },
  { status: 400, query: { cursor: query } },
];

/** Returns a function that returns requests with marked values for an operation that creates an item. */
export function markedCreates({ newItem }: CollectionBasics): OperationTests['markedRequests'] {
  return ({ text, integer, unknownField, header, idempotencyKey, key, otherKey }) => {
    const bodyOf = (value: string) => stringifyJson({ ...newItem(value, BigInt(integer)), unknownField });
    const body = bodyOf(text);
    const names = Object.keys(newItem(text));
    const wrongBodies = [
      '',
      text,
      body.slice(0, -20),
      `["${text}"]`,
      `${'['.repeat(30_000)}"${text}"`,
      stringifyJson(Object.fromEntries(names.map((name) => [name, BigInt(integer)]))),
      stringifyJson(Object.fromEntries(names.map((name) => [name, [unknownField]]))),
      `{"${key}":"${text}","other":"${otherKey}"}`,
    ];
    const withKey = (value: string) => ({ body, headers: { 'Idempotency-Key': value } });
    return [
      { status: 201, body },
      { status: 201, ...withKey(idempotencyKey) },
      { status: 422, ...withKey(idempotencyKey), body: bodyOf(unknownField) },
      { status: 400, ...withKey(`"${idempotencyKey}`) },
      { status: 400, ...withKey(idempotencyKey.repeat(11)) },
      ...wrongBodies.map((wrongBody) => ({ status: 400, body: wrongBody })),
      { status: 413, body: bodyOf(text.repeat(3_000)) },
      { status: 415, body, headers: { 'Content-Type': `text/${header}` } },
    ];
  };
}

/**
 * Returns a function that returns requests with marked values for an operation that gets an item.
 *
 * @param idParameter name of the path parameter, such as `bookId`
 */
export function markedGets(idParameter: string): OperationTests['markedRequests'] {
  return () => [{ status: 200 }, { status: 404, pathParameters: { [idParameter]: 'none' } }];
}
