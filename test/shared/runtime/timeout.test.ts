import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as timers from 'node:timers';
import { apiGatewayEvent, createEvent } from '../../support/api-gateway-event.ts';
import { books } from '../../support/books.ts';
import { invoke } from '../../support/invoke.ts';
import { logLines } from '../../support/log-lines.ts';
import { nextResponses, received, type Responder, respondWith } from '../storage/fake-dynamodb.ts';

/** Time after which a function with 10 s left responds with a 503. */
const LIMIT_MILLISECONDS = 9_500;
let expire: () => void;

// middy imports `setTimeout`, so Jest's fake timers would have no effect.
jest.unstable_mockModule('node:timers', () => ({
  ...timers,
  setTimeout(run: () => void, milliseconds: number) {
    if (milliseconds === LIMIT_MILLISECONDS) expire = run;
    return timers.setTimeout(run, milliseconds);
  },
}));
const { endpoint } = await import('../../../shared/runtime/endpoint.ts');
const { create, get } = await import('../../../shared/storage/collection.ts');
const { readPage } = await import('../../../shared/storage/page.ts');

Object.assign(process.env, { BOOKS_TABLE: 'books', IDEMPOTENCY_TABLE: 'records' });

const unhandled = jest.fn();
beforeEach(() => void process.on('unhandledRejection', unhandled));
afterEach(() => {
  process.off('unhandledRejection', unhandled);
  unhandled.mockReset();
});

const { operations } = books;
const conditionFails = respondWith(400, { __type: 'ConditionalCheckFailedException' });

/** Each database call of a function, with the responses to the calls before it. */
const calls: [string, 'create' | 'list' | 'get', Responder[]][] = [
  ['the write of an idempotency record', 'create', []],
  ['the read of an idempotency record', 'create', [conditionFails]],
  ['the write of an item', 'create', [respondWith(200, {})]],
  ['the read of another item with the same id', 'create', [respondWith(200, {}), conditionFails]],
  ['the query of a list', 'list', []],
  ['the read of an item', 'get', []],
];

describe('a function that responds with a 503 because its time is over', () => {
  test.each(calls)('ends %s, and starts no other database call', async (_call, kind, earlier) => {
    let running: Promise<unknown> | undefined;
    const handlers = {
      create: endpoint(operations.create, async ({ body, signal }) => {
        const created = create(books, body, signal, { token: 'token', fingerprint: 'body' });
        running = created;
        return { body: await created };
      }),
      list: endpoint(operations.list, async ({ query, signal }) => {
        const listed = readPage(books, query, signal);
        running = listed;
        return { body: (await listed).items };
      }),
      get: endpoint(operations.get, async ({ path, signal }) => {
        const read = get(books, path.bookId, signal);
        running = read;
        return { body: (await read)! };
      }),
    };
    const event =
      kind === 'create'
        ? createEvent({ title: 'Emma', shelf: 7 })
        : apiGatewayEvent(kind === 'get' ? { pathParameters: { bookId: '42' } } : {});
    // The call gets no response. An attempt to repeat it, and all other calls, would get one.
    nextResponses.push(...earlier, () => expire());
    for (let more = 0; more < 5; more += 1) nextResponses.push(respondWith(200, {}));
    const response = await invoke(handlers[kind], event);
    expect(response).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect(received).toHaveLength(earlier.length + 1);
    await new Promise(setImmediate);
    expect(logLines()).toMatchObject([{ code: 'service_unavailable' }]);
    expect(unhandled).not.toHaveBeenCalled();
  });
});
