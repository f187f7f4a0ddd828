import { type Process, sendFirstRequest, type World } from './world.ts';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import * as v from 'valibot';
import { keyReusedMessage, type PublishedCollection } from '../../shared/contract/collection.ts';
import * as fields from '../../shared/contract/fields.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { nextPage } from '../../shared/contract/lists.ts';
import { endpoint, type Handler } from '../../shared/runtime/endpoint.ts';
import { create } from '../../shared/storage/collection.ts';
import { readItem } from '../../shared/storage/database.ts';
import { tokenOf } from '../../shared/storage/idempotency.ts';
import { list } from '../../shared/storage/lists.ts';
import { Book, books, NewBook } from '../support/books.ts';
import { createEvent, listEvent } from '../support/api-gateway-event.ts';
import { invocation } from '../support/invoke.ts';
import type { TableSettings } from './dynamodb.ts';

/** Time after which API Gateway and the clients stop waiting for a response. */
const RESPONSE_MILLISECONDS = 29_000;
const FUNCTION_MILLISECONDS = 10_000;

/** Environment of the functions, and the tables that it names. */
export const environment = {
  BOOKS_TABLE: 'books',
  IDEMPOTENCY_TABLE: 'records',
  LIST_PARTITIONS: '[{"since":"2025-01-01T00:00:00Z","count":2}]',
};
export const tables: Record<string, TableSettings> = {
  books: {
    key: 'id',
    indexes: {
      newest: { partitionKey: 'partition', sortKey: 'id' },
      'newest-by-genre': { partitionKey: 'genrePartition', sortKey: 'id' },
      'newest-by-genre-and-shelf': { partitionKey: 'genre-shelfPartition', sortKey: 'id' },
    },
  },
  records: { key: 'token', timeToLive: 'expiresAt' },
};

// The new version of the service knows the field `tag`, which the old version ignores.
const tag = { tag: v.exactOptional(fields.text(20)) };
const booksWithTags = {
  ...books,
  item: v.object({ ...Book.entries, ...tag }),
  operations: {
    ...books.operations,
    create: {
      ...books.operations.create,
      request: v.object({
        ...books.operations.create.request.entries,
        body: v.object({ ...NewBook.entries, ...tag }),
      }),
    },
  },
} satisfies PublishedCollection;

function createHandler(collection: typeof books | typeof booksWithTags): Handler {
  const operation: (typeof booksWithTags)['operations']['create'] = collection.operations.create as never;
  return endpoint(operation, async ({ headers, body, firstKeyId, signal, fail }) => {
    const key = headers['Idempotency-Key'];
    const token = key && tokenOf(operation.id, firstKeyId, key);
    const item = await create(collection as typeof booksWithTags, body, signal, token);
    return { body: item ?? fail('idempotency_key_reused', keyReusedMessage(collection)) };
  });
}

/** The create functions of two versions. */
export const createFunctions = { old: createHandler(books), new: createHandler(booksWithTags) };

export const listFunction = endpoint(books.operations.list, async ({ query, rootUrl, signal }) => {
  const { items, next } = await list(books, query, signal);
  if (next === undefined) return { body: items };
  return { body: items, headers: { Link: `<${rootUrl}${nextPage(books, query, next)}>; rel="next"` } };
});

// `create` and `list` use different clients of the SDK, so each client sends a first request.
await sendFirstRequest(() => readItem('books', { id: 1n }));
await sendFirstRequest(
  () => list(books, { limit: 1, filters: {} }, new AbortController().signal),
  environment,
);

export interface Response {
  status: number;
  headers: Record<string, string>;
  body: any;
}

/** Contexts that the authorizer returns for an API key, and for the successor of its successor. */
export const authorizers = {
  'with the first API key': { keyId: 'key_1' },
  'with the rotated API key': { keyId: 'key_3', firstKeyId: 'key_1' },
};

/** Returns the event of a create. */
export function bookEvent(
  body: object,
  idempotencyKey: string | undefined,
  authorizer: object,
): APIGatewayProxyEvent {
  const headers = idempotencyKey === undefined ? null : { 'Idempotency-Key': idempotencyKey };
  return createEvent(stringifyJson(body), { headers, requestContext: { authorizer } });
}

/** Returns the event of a list request to the URL of a page. */
export function pageEvent(url: string): APIGatewayProxyEvent {
  const query = Object.fromEntries(
    [...new URL(url).searchParams].map(([name, value]) => [name, [value]] as [string, string[]]),
  );
  return listEvent(query);
}

/**
 * Sends a request of the running process to a function, as API Gateway does. The request or the response can get lost, and
 * the instance can be killed.
 *
 * @param milliseconds the function's timeout
 * @returns the response, or undefined if none arrives in time
 */
export function callFunction(
  world: World,
  client: Process,
  instance: Process,
  handler: Handler,
  event: APIGatewayProxyEvent,
  milliseconds = FUNCTION_MILLISECONDS,
): Promise<Response | undefined> {
  return new Promise((resolve) => {
    const timeout = setTimeout(() => resolve(undefined), RESPONSE_MILLISECONDS);
    const respond = (response: Response) => {
      const { status } = response;
      world.post({
        text: `${client.name} gets a ${status} of ${instance.name}`,
        process: client,
        fates: ['in time', 'but the response is lost'],
        deliver: (fate) => {
          if (fate !== 'in time') return;
          clearTimeout(timeout);
          if (client.isAlive) resolve(response);
        },
      });
    };
    const run = async () => {
      const end = Date.now() + milliseconds;
      const context = { ...invocation, getRemainingTimeInMillis: () => end - Date.now() } as Context;
      const { statusCode: status, headers = {}, body } = await handler(event, context);
      instance.hasResponded = true;
      const text = body === '' ? undefined : parseJson(body);
      respond({ status, headers: headers as Record<string, string>, body: text });
    };
    world.onKill(instance, () => respond({ status: 502, headers: {}, body: {} }));
    world.post({
      text: `${client.name} sends a request to ${instance.name}`,
      process: instance,
      fates: ['in time', 'but the request is lost'],
      deliver: (fate) => {
        if (fate === 'in time' && instance.isAlive) void run();
      },
    });
  });
}

/** Waits on the clock of the running process. */
export function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
