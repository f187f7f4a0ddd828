import { type Process, sendFirstRequest, type World } from './world.ts';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import * as v from 'valibot';
import { handler as runAuthorizer } from '../../functions/authorizer.ts';
import { type ApiKeyRecord, newApiKey } from '../../shared/api-keys.ts';
import * as fields from '../../shared/contract/fields.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { nextPage } from '../../shared/contract/lists.ts';
import type { PublishedCollection } from '../../shared/contract/operation.ts';
import { endpoint, type Handler } from '../../shared/runtime/endpoint.ts';
import { create } from '../../shared/storage/collection.ts';
import { readItem } from '../../shared/storage/database.ts';
import { intentOf } from '../../shared/storage/idempotency.ts';
import { readPage } from '../../shared/storage/page.ts';
import { Book, books, NewBook } from '../support/books.ts';
import { listEvent } from '../support/api-gateway-event.ts';
import { invocation } from '../support/invoke.ts';
import type { TableSettings } from './dynamodb.ts';

/** Time after which API Gateway and the clients stop waiting for a response. */
const RESPONSE_MILLISECONDS = 29_000;
const FUNCTION_MILLISECONDS = 10_000;

/** Environment of the functions, and the tables that it names. */
export const environment = {
  STAGE: 'staging',
  BOOKS_TABLE: 'books',
  IDEMPOTENCY_TABLE: 'records',
  API_KEYS_TABLE: 'keys',
};
export const keyTables: Record<string, TableSettings> = {
  keys: { key: 'hash', indexes: { 'by-stage': { partitionKey: 'stage', sortKey: 'keyId' } } },
};
export const tables: Record<string, TableSettings> = {
  books: {
    key: 'id',
    indexes: {
      newest: { partitionKey: 'list', sortKey: 'id' },
      'newest-by-genre': { partitionKey: 'genre', sortKey: 'id' },
      'newest-by-shelf': { partitionKey: 'shelf', sortKey: 'id' },
      'newest-by-genre-and-shelf': { partitionKey: 'genre-and-shelf', sortKey: 'id' },
    },
  },
  records: { key: 'token', timeToLive: 'expiresAt' },
  ...keyTables,
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
      request: { ...books.operations.create.request, body: v.object({ ...NewBook.entries, ...tag }) },
    },
  },
} satisfies PublishedCollection;

function createFunction(collection: typeof books | typeof booksWithTags): Handler {
  const operation = collection.operations.create as (typeof booksWithTags)['operations']['create'];
  return endpoint(operation, async (request) => {
    const { body, signal } = request;
    const intent = intentOf(operation.id, request);
    return { body: await create(collection as typeof booksWithTags, body, signal, intent) };
  });
}

/** The create functions of two versions. */
export const createFunctions = { old: createFunction(books), new: createFunction(booksWithTags) };

export const listFunction = endpoint(books.operations.list, async ({ query, rootUrl, signal }) => {
  const { items, next } = await readPage(books, query, signal);
  if (next === undefined) return { body: items };
  return { body: items, headers: { Link: `<${rootUrl}${nextPage(books, query, next)}>; rel="next"` } };
});

await sendFirstRequest(() => readItem('books', { id: 1n }));

const issue = (owner: string, predecessor?: ApiKeyRecord) =>
  newApiKey('staging', { owner, caller: 'jane', ...(predecessor && { predecessor }) });
const issued = issue('Acme');
const rotated = issue('Acme', issue('Acme', issued.record).record);
const otherKey = issue('Umbrella');

/** The API keys of a client. Acme has rotated its key twice. */
export const apiKeysOf = {
  Acme: { 'with the first API key': issued.key, 'with the rotated API key': rotated.key },
  Umbrella: { 'with its API key': otherKey.key },
};
export const apiKeyRecords = [issued, rotated, otherKey].map(({ record }) => record);

/**
 * Differences of instances' clocks from the right time, in milliseconds. The service keeps an `Idempotency-Key` for 15
 * minutes longer than promised, which must cover the difference of two clocks and the time until a request arrives.
 */
const SKEWS = { right: 0, fast: 300_000, slow: -300_000 };

/** Adds a process that runs functions. The schedule chooses its clock. */
export function addInstance(world: World, name: string): Process {
  const states = Object.keys(SKEWS) as (keyof typeof SKEWS)[];
  const state = states[world.choose(states.map((text) => `the clock is ${text}`))]!;
  const clock = state === 'right' ? '' : `, whose clock is ${state}`;
  return world.addProcess(`${name}${clock}`, { environment, skew: SKEWS[state], isKillable: true });
}

/** Checks an API key on the machine of the running process. Returns the context for functions if the key gives access. */
export async function authorize(key: string): Promise<Record<string, unknown> | undefined> {
  const result = await runAuthorizer({
    type: 'TOKEN',
    authorizationToken: `Bearer ${key}`,
    methodArn: 'arn:aws:execute-api:eu-central-1:123456789012:abc123/staging/POST/v1/books',
  });
  const { context, policyDocument } = result!;
  return policyDocument.Statement[0]!.Effect === 'Allow' ? context! : undefined;
}

/** Returns the event of a list request to the URL of a page. */
export function pageEvent(url: string): APIGatewayProxyEvent {
  const parameters = [...new URL(url).searchParams];
  return listEvent(Object.fromEntries(parameters.map(([name, value]) => [name, [value]])));
}

export interface Response {
  status: number;
  headers: Record<string, string>;
  body: any;
}

interface Call {
  /** Process that runs the function. */
  instance: Process;
  handler: Handler;
  event: APIGatewayProxyEvent;
  /** API key that the authorizer checks before the function runs. @default - the event contains what the authorizer returned */
  apiKey?: string | undefined;
  /** Timeout of the function. */
  milliseconds?: number | undefined;
}

/**
 * Sends a request of the running process to a function, as API Gateway does. The request or the response can get lost, and
 * the instance can be killed.
 *
 * @returns the response, or undefined if none arrives in time
 */
export function callFunction(
  world: World,
  client: Process,
  { instance, handler, event, apiKey, milliseconds = FUNCTION_MILLISECONDS }: Call,
): Promise<Response | undefined> {
  return new Promise((resolve) => {
    const timeout = setTimeout(() => resolve(undefined), RESPONSE_MILLISECONDS);
    const sent = world.now();
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
    const run = async (authorizer = event.requestContext.authorizer) => {
      const end = Date.now() + milliseconds;
      const context = { ...invocation, getRemainingTimeInMillis: () => end - Date.now() } as Context;
      const requestContext = { ...event.requestContext, authorizer };
      const result = await handler({ ...event, requestContext }, context);
      const { statusCode: status, headers = {}, body } = result!;
      instance.hasResponded = true;
      respond({ status, headers: headers as Record<string, string>, body: parseJson(body) });
    };
    const invoke = (authorizer?: Record<string, unknown>) => {
      // Messages can take a day, but API Gateway gives up a request after half a minute.
      const isInTime = world.now() - sent < RESPONSE_MILLISECONDS;
      if (instance.isAlive && isInTime) void run(authorizer);
    };
    const authorizeAndInvoke = async (key: string) => {
      try {
        const context = await authorize(key);
        if (!context) return respond({ status: 401, headers: {}, body: {} });
        const text = `the request of ${client.name} reaches ${instance.name}`;
        const deliver = () => invoke(context);
        world.post({ text, process: instance, fates: ['in time'], deliver });
      } catch {
        respond({ status: 503, headers: { 'Retry-After': '1' }, body: {} });
      }
    };
    const authorizes = apiKey !== undefined;
    world.onKill(instance, () => respond({ status: 502, headers: {}, body: {} }));
    world.post({
      text: `${client.name} sends a request to ${instance.name}`,
      process: authorizes ? world.addProcess(`authorizer of ${instance.name}`, { environment }) : instance,
      fates: ['in time', 'but the request is lost'],
      deliver: (fate) => {
        if (fate !== 'in time') return;
        if (authorizes) void authorizeAndInvoke(apiKey);
        else invoke();
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
