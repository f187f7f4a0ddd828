import { type Process, require, Violation, type World } from './world.ts';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { isDeepStrictEqual } from 'node:util';
import { type Database, startDatabase } from './dynamodb.ts';
import type { Scope } from './schedules.ts';
import {
  authorizers,
  bookEvent,
  callFunction,
  createFunctions,
  environment,
  type Response,
  sleep,
  tables,
} from './service.ts';

/** Time for which an `Idempotency-Key` is promised to be valid. */
const DAY_MILLISECONDS = 86_400_000;
const MAX_REQUESTS = 40;
/**
 * Differences of instances' clocks from the right time, in milliseconds. The service keeps an `Idempotency-Key` for 10
 * minutes longer than promised, which must cover the differences of two clocks and the time until a request arrives.
 */
const SKEWS = { right: 0, fast: 240_000, slow: -240_000 };

type Version = keyof typeof createFunctions;
const versionNames = ['old', 'new'] as const satisfies Version[];

/** A request to create a book, with all of its retries. */
interface Create {
  client: string;
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
  /** Whether the client retries until it gets a 201 or a 4xx. */
  retries: boolean;
}

interface Attempt {
  create: Create;
  version: Version;
  time: number;
  response: Response | undefined;
}

/** Runs creates concurrently, on instances of `versions`. Returns the database, and all requests with their responses. */
async function runCreates(world: World, creates: Create[], versions: readonly Version[] = versionNames) {
  const database = startDatabase(world, tables);
  const attempts: Attempt[] = [];
  let instances = 0;

  async function send(client: Process, create: Create): Promise<Attempt> {
    const version = versions[world.choose(versions)]!;
    const skews = Object.entries(SKEWS);
    const [state, skew] = skews[world.choose(skews.map(([text]) => `the clock is ${text}`))]!;
    instances += 1;
    const clock = skew === 0 ? '' : `, whose clock is ${state}`;
    const instance = world.addProcess(`instance ${instances} (${version} version${clock})`, {
      environment,
      skew,
      isKillable: true,
    });
    const time = world.now();
    const keys = Object.keys(authorizers) as (keyof typeof authorizers)[];
    const authorizer = authorizers[keys[world.choose(keys)]!];
    const event = bookEvent(create.body, create.idempotencyKey, authorizer);
    const attempt: Attempt = { create, version, time, response: undefined };
    attempts.push(attempt);
    attempt.response = await callFunction(
      world,
      client,
      instance,
      createFunctions[version],
      event,
      create.timeout,
    );
    return attempt;
  }

  for (const create of creates) {
    const client = world.addProcess(create.client);
    world.start(client, 'creates a book', async () => {
      if (create.delay !== undefined) await sleep(create.delay);
      for (let request = 1; ; request += 1) {
        const { response } = await send(client, create);
        const isFinal = response && response.status < 500;
        const age = world.now() - attempts.find((one) => one.create === create)!.time;
        if (create.pause !== undefined && request === 1) await sleep(Math.max(0, create.pause - age));
        else if (isFinal || !create.retries || age > DAY_MILLISECONDS - 2_000) return;
        else await sleep(1_000);
        if (request === MAX_REQUESTS) throw new Violation('A client gets no final response.');
      }
    });
  }
  await world.run();
  return { database, attempts };
}

function stored(database: Database): Record<string, unknown>[] {
  return database.items('books').map((item) => unmarshall(item, { wrapNumbers: BigInt }));
}

/** Checks what the service promises about creates. */
function requirePromises(world: World, database: Database, attempts: Attempt[]): void {
  for (const { before, after, table } of database.changes)
    require(table !== 'books' || before === undefined, 'No book is overwritten.', { before, after });

  const books = stored(database);
  const counted = world.processes.filter(({ output }) => output.includes('"BooksCreated":1')).length;
  require(counted <= books.length, 'A book is counted at most once.', { counted, books });
  for (const { create, version, response } of attempts) {
    const { status, body, headers } = response ?? { status: 0, body: {}, headers: {} };
    if (status === 201) {
      const book = books.find(({ id }) => id === body.id)!;
      const names = ['id', 'title', 'shelf', ...(version === 'new' ? ['tag'] : [])];
      const published = Object.fromEntries(
        names.filter((name) => book?.[name]).map((name) => [name, book[name]]),
      );
      require(isDeepStrictEqual(body, published), 'A 201 contains the stored book.', { body, book });
      const { tag: _tag, ...sent } = create.body;
      require(isDeepStrictEqual(
        { ...body, ...sent },
        body,
      ), 'A 201 contains the fields that the client sent.', {
        body,
        sent,
      });
    } else if (status === 422) {
      const others = attempts.filter((one) => one.create.idempotencyKey === create.idempotencyKey);
      const isReused = others.some((one) => one.create.body.title !== create.body.title);
      require(isReused, 'A 422 says that the key was used for another book.', { version, body: create.body });
    } else if (status >= 500 && status !== 502) {
      require(status === 503 && headers['Retry-After'] !== undefined, 'A 5xx is a 503 with Retry-After.', {
        status,
      });
    } else require(status === 0 || status === 502, 'A create gets no other status.', { status });
  }

  for (const { create } of attempts) {
    const same = attempts.filter((one) =>
      create.idempotencyKey === undefined
        ? one.create === create
        : one.create.idempotencyKey === create.idempotencyKey,
    );
    const titles = new Set(same.map((one) => one.create.body.title));
    const found = books.filter(({ title }) => titles.has(String(title)));
    const ids = new Set(
      same.filter(({ response }) => response?.status === 201).map(({ response }) => response!.body.id),
    );
    if (create.idempotencyKey === undefined)
      require(found.length <= same.length, 'A request without a key stores at most one book.', { found });
    else {
      require(found.length <= 1, 'All requests with a key store at most one book.', { found });
      require(ids.size <= 1, 'All 201s for a key have the same id.', { ids: [...ids] });
      const isFinal = same.every((one) => one.create.retries && one.create.pause === undefined);
      require(!isFinal || ids.size === 1, 'A client that retries gets a 201.', { found });
    }
    require([...ids].every((id) =>
      books.some((book) => book['id'] === id),
    ), 'An acknowledged book is stored.', {
      ids: [...ids],
    });
  }
}

async function checkCreates(world: World, creates: Create[], versions?: readonly Version[]): Promise<void> {
  const { database, attempts } = await runCreates(world, creates, versions);
  requirePromises(world, database, attempts);
}

const key = 'a-key';
const book = (title: string) => ({ title, shelf: 1n });

export const createScopes: Record<string, Scope> = {
  'a create with a key, retried': {
    run: (world) =>
      checkCreates(world, [
        { client: 'client', body: { ...book('a book'), tag: 'new' }, idempotencyKey: key, retries: true },
      ]),
  },
  // The function responds after 1.2 seconds, before the SDK repeats a database call that got no response in 1.5
  // seconds. The function must therefore abort such a call when it responds.
  'a create whose function has little time': {
    run: (world) =>
      checkCreates(
        world,
        [{ client: 'client', body: book('a book'), idempotencyKey: key, timeout: 1_700, retries: true }],
        ['old'],
      ),
  },
  'two clients with the same key and book': {
    run: (world) =>
      checkCreates(
        world,
        ['first client', 'second client'].map((client) => ({
          client,
          body: book('a book'),
          idempotencyKey: key,
          retries: true,
        })),
        ['old'],
      ),
  },
  'two clients with the same key and different books': {
    run: (world) =>
      checkCreates(
        world,
        ['first', 'second'].map((name) => ({
          client: `${name} client`,
          body: book(`${name} book`),
          idempotencyKey: key,
          retries: true,
        })),
        ['old'],
      ),
  },
  'creates that generate the same ids': {
    settings: { millisecondsPerStep: 0, randomNumbers: 2 },
    run: (world) =>
      checkCreates(
        world,
        [
          { client: 'first client', body: book('one'), idempotencyKey: key, retries: true },
          { client: 'second client', body: book('one'), idempotencyKey: key, retries: true },
          { client: 'third client', body: book('another'), retries: false },
        ],
        ['old'],
      ),
  },
  'a create without a key, retried': {
    run: (world) => checkCreates(world, [{ client: 'client', body: book('a book'), retries: true }]),
  },
  'a key that has expired, used for another book': {
    async run(world) {
      const { database, attempts } = await runCreates(world, [
        { client: 'first client', body: book('one'), idempotencyKey: key, retries: true },
        {
          client: 'second client',
          body: book('another'),
          idempotencyKey: key,
          delay: DAY_MILLISECONDS + 1_500_000,
          retries: true,
        },
      ]);
      // If a schedule delays the first client so much that its record has not expired, there is nothing to check.
      const [first, second] = ['first client', 'second client'].map((client) =>
        attempts.findLast(({ create }) => create.client === client)!,
      );
      if (second!.time < first!.time + DAY_MILLISECONDS + 1_200_000) return;
      for (const last of [first!, second!])
        require(last.response?.status === 201, 'A key can be used again when it has expired.', { last });
      const found = stored(database);
      require(found.length === 2, 'Each client has stored its book.', { found });
    },
  },
  'a create that is interrupted before another create': {
    async run(world) {
      const { database, attempts } = await runCreates(
        world,
        [
          { client: 'first client', body: book('one'), idempotencyKey: key, retries: true },
          { client: 'second client', body: book('another'), delay: 500, retries: true },
        ],
        ['old'],
      );
      requirePromises(world, database, attempts);
      const claim = database.changes.find(({ table }) => table === 'records')?.after?.['bookId']?.N;
      const found = stored(database).find(({ title }) => title === 'one');
      require(claim === `${found?.['id'] as bigint}`, 'A retried create keeps the id of its first attempt.', {
        claim,
        found,
      });
    },
  },
  'a retry just before a day has passed': {
    run: (world) =>
      checkCreates(world, [
        {
          client: 'client',
          body: book('a book'),
          idempotencyKey: key,
          pause: DAY_MILLISECONDS - 1_000,
          retries: true,
        },
      ]),
  },
};
