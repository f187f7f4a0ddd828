import { type Process, require, Violation, type World } from './world.ts';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { isDeepStrictEqual } from 'node:util';
import { createEvent } from '../support/api-gateway-event.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import { type Database, startDatabase } from './dynamodb.ts';
import type { Scope } from './schedules.ts';
import {
  addInstance,
  apiKeyRecords,
  apiKeysOf,
  callFunction,
  createFunctions,
  type Response,
  sleep,
  tables,
} from './service.ts';

/** Time for which an `Idempotency-Key` is promised to be valid. */
const DAY_MILLISECONDS = 86_400_000;
/** Time after which an `Idempotency-Key` has expired on all clocks. */
const EXPIRED_MILLISECONDS = DAY_MILLISECONDS + 1_560_000;
const MAX_REQUESTS = 40;

type Version = keyof typeof createFunctions;
const versionNames = ['old', 'new'] as const satisfies Version[];
const fieldsOf = { old: ['title', 'shelf', 'genre'], new: ['title', 'shelf', 'genre', 'tag'] };

/** A request to create a book, with all of its retries. */
interface Create {
  /** Client whose API keys the requests use. @default Acme */
  owner?: keyof typeof apiKeysOf;
  body: { title: string; shelf: bigint; tag?: string };
  idempotencyKey?: string;
  /**
   * Milliseconds from the first request to the first retry, which the client then sends even after a final response.
   * @default - the client retries a second after each request that got no final response
   */
  pause?: number;
  /** Milliseconds until the first request. */
  delay?: number;
  /** Timeout of the function in milliseconds. */
  timeout?: number;
}

interface Attempt {
  create: Create;
  version: Version;
  instance: Process;
  time: number;
  response: Response | undefined;
}

/** Runs creates concurrently, on instances of `versions`. Returns the database, and all requests with their responses. */
async function runCreates(world: World, creates: Create[], versions: readonly Version[] = versionNames) {
  const database = startDatabase(world, tables);
  for (const record of apiKeyRecords) database.store('keys', marshall(record));
  const attempts: Attempt[] = [];

  async function send(client: Process, create: Create): Promise<Attempt> {
    const { owner = 'Acme', body, idempotencyKey, timeout } = create;
    const version = versions[world.choose(versions)]!;
    const instance = addInstance(world, `instance ${attempts.length + 1} of the ${version} version`);
    const keys = Object.entries(apiKeysOf[owner]);
    const [, apiKey] = keys[world.choose(keys.map(([text]) => text))]!;
    const attempt: Attempt = { create, version, instance, time: world.now(), response: undefined };
    attempts.push(attempt);
    const headers = idempotencyKey === undefined ? null : { 'Idempotency-Key': idempotencyKey };
    attempt.response = await callFunction(world, client, {
      instance,
      handler: createFunctions[version],
      event: createEvent(stringifyJson(body), { headers }),
      apiKey,
      milliseconds: timeout,
    });
    return attempt;
  }

  for (const [index, create] of creates.entries()) {
    const client = world.addProcess(`client ${index + 1}`);
    world.start(client, 'creates a book', async () => {
      if (create.delay !== undefined) await sleep(create.delay);
      for (let request = 1; ; request += 1) {
        const { response } = await send(client, create);
        const isFinal = response && response.status < 500;
        const age = world.now() - attempts.find((one) => one.create === create)!.time;
        if (create.pause !== undefined && request === 1) await sleep(Math.max(0, create.pause - age));
        else if (isFinal || age > DAY_MILLISECONDS - 2_000) return;
        else await sleep(1_000);
        if (request === MAX_REQUESTS) throw new Violation('A client gets no final response.');
      }
    });
  }
  await world.run();
  return { database, attempts };
}

/** Returns the stored books, each with the request that stored it. */
function storedBooks(database: Database, attempts: Attempt[]) {
  const changes = database.changes.filter(({ table }) => table === 'books');
  return changes.map(({ before, after, writer }) => {
    require(before === undefined, 'No book is overwritten.', { before, after });
    const stored: Record<string, unknown> = unmarshall(after!, { wrapNumbers: BigInt });
    return { stored, by: attempts.find(({ instance }) => instance === writer)! };
  });
}

function pick(values: object, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)));
}

/** Returns whether two requests are meant to create the same book. */
function isSameCreate(one: Create, other: Create): boolean {
  if (one.idempotencyKey === undefined) return one === other;
  return one.idempotencyKey === other.idempotencyKey && one.owner === other.owner;
}

/** Checks what the service promises about creates. */
function requirePromises(world: World, database: Database, attempts: Attempt[]): void {
  const books = storedBooks(database, attempts);
  const counted = world.processes.filter(({ output }) => output.includes('"BooksCreated":1')).length;
  require(counted <= books.length, 'A book is counted at most once.', { counted, books: books.length });
  for (const { stored, by } of books) {
    const { body } = by.create;
    const isComplete = isDeepStrictEqual(pick(stored, fieldsOf.new), pick(body, fieldsOf[by.version]));
    require(isComplete, 'A book is stored with all fields that the version knows.', { stored, body });
  }

  for (const { create, version, response } of attempts) {
    const { status, body, headers } = response ?? { status: 0, body: {}, headers: {} };
    if (status === 201) {
      const book = books.find(({ stored }) => stored['id'] === body.id);
      require(book !== undefined, 'An acknowledged book is stored.', { body });
      const { create: first, version: firstVersion } = book!.by;
      require(isSameCreate(create, first), 'A client gets the book of its own create.', { create, first });
      const isSameBody = isDeepStrictEqual(create.body, first.body);
      require(isSameBody, 'A key never stands for two different books.', { create, first });
      const stored = pick(first.body, fieldsOf[firstVersion]);
      const expected = { id: body.id, ...pick(stored, fieldsOf[version]) };
      const isAsStored = isDeepStrictEqual(body, expected);
      require(isAsStored, 'A 201 contains the fields that the first version stored and this one knows.', {
        body,
        expected,
      });
    } else if (status === 422) {
      const others = attempts.filter((one) => isSameCreate(one.create, create));
      const isReused = others.some((one) => !isDeepStrictEqual(one.create.body, create.body));
      require(isReused, 'A 422 says that the key was used for another book.', { create });
    } else if (status >= 500 && status !== 502) {
      const isRetriable = status === 503 && headers['Retry-After'] !== undefined;
      require(isRetriable, 'A 5xx is a 503 with Retry-After.', { status });
    } else require(status === 0 || status === 502, 'A create gets no other status.', { status });
  }

  const isUsual = world.report().decisions.every(({ choice }) => choice === 0);
  const statuses = attempts.map(({ response }) => response?.status ?? 0);
  const isSuccess = statuses.every((status) => status === 201 || status === 422);
  require(!isUsual || isSuccess, 'A create gets no 5xx if nothing fails.', { statuses });

  for (const { create } of attempts) {
    const same = attempts.filter((one) => isSameCreate(one.create, create));
    const found = books.filter(({ by }) => isSameCreate(by.create, create)).map(({ stored }) => stored);
    if (create.idempotencyKey === undefined)
      require(found.length <= same.length, 'A request without a key stores at most one book.', { found });
    else {
      require(found.length <= 1, 'All requests with a key store at most one book.', { found });
      const isFinal = same.every((one) => one.create.pause === undefined);
      const isAnswered = same.some(({ response }) => response?.status === 201);
      require(!isFinal || isAnswered, 'A client that retries gets a 201.', { found });
    }
  }
}

function createScope(creates: Create[], versions?: readonly Version[]): Scope {
  return {
    async run(world) {
      const { database, attempts } = await runCreates(world, creates, versions);
      requirePromises(world, database, attempts);
    },
  };
}

const idempotencyKey = 'a-key';
const book = (title: string) => ({ title, shelf: 1n });
const expiring: Create[] = [
  { body: book('one'), idempotencyKey },
  { body: book('another'), idempotencyKey, delay: DAY_MILLISECONDS + 1_800_000 },
];

export const createScopes: Record<string, Scope> = {
  'a create with a key, retried': createScope([{ body: { ...book('a book'), tag: 'new' }, idempotencyKey }]),
  // The function responds after 1.2 seconds, before the SDK repeats a database call that got no response in 1.5
  // seconds. The function must therefore abort such a call when it responds.
  'a create whose function has little time': createScope(
    [{ body: book('a book'), idempotencyKey, timeout: 1_700 }],
    ['old'],
  ),
  'two requests with the same key and book': createScope(
    [
      { body: book('a book'), idempotencyKey },
      { body: book('a book'), idempotencyKey },
    ],
    ['old'],
  ),
  // To the old version, both books are the same.
  'two requests with the same key and books that differ in an optional field': createScope([
    { body: book('a book'), idempotencyKey },
    { body: { ...book('a book'), tag: 'new' }, idempotencyKey },
  ]),
  // The first two creates have the same Idempotency-Key, but the API keys of different clients. With this seed, the
  // second create generates two ids in a row that are taken, unless something fails.
  'three creates that generate the same ids': {
    settings: { millisecondsPerStep: 0, randomNumbers: 3, seed: 4 },
    ...createScope(
      [
        { body: book('one'), idempotencyKey },
        { body: book('another'), idempotencyKey, owner: 'Umbrella' },
        { body: book('a third') },
      ],
      ['old'],
    ),
  },
  'a create without a key, retried': createScope([{ body: book('a book') }]),
  'a key that has expired, used for another book': {
    async run(world) {
      const { database, attempts } = await runCreates(world, expiring);
      const lasts = expiring.map((create) => attempts.findLast((one) => one.create === create)!);
      // If a schedule delays the first client so much that its record has not expired, there is nothing to check.
      if (lasts[1]!.time < lasts[0]!.time + EXPIRED_MILLISECONDS) return;
      for (const { response } of lasts)
        require(response?.status === 201, 'A key can be used again when it has expired.', { response });
      const books = storedBooks(database, attempts).map(({ stored }) => stored);
      require(books.length === 2, 'Each client has stored its book.', { books });
    },
  },
  'a retry just before a day has passed': createScope([
    { body: book('a book'), idempotencyKey, pause: DAY_MILLISECONDS - 1_000 },
  ]),
};
