import { require, START, type World } from './world.ts';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { isDeepStrictEqual } from 'node:util';
import { createEvent } from '../support/api-gateway-event.ts';
import { startDatabase } from './dynamodb.ts';
import type { Scope } from './schedules.ts';
import {
  addInstance,
  callFunction,
  createFunctions,
  listFunction,
  pageEvent,
  sleep,
  tables,
} from './service.ts';

/** Time after which lists promise to contain a new book. */
const LISTED_MILLISECONDS = 3_000;
/** Times at which books are created, in milliseconds after the start of the world. */
const CREATES = [0, 3_090];
/** More requests than the reader of any schedule sends, so that a list without an end does not run forever. */
const MAX_PAGES = 100;
/** Time at which the pages of the list are read. */
const READ = 3_100;

/** Creates books and meanwhile reads all pages of a list. @param filters queries, one of which the schedule chooses */
async function runLists(world: World, filters: string[]) {
  const database = startDatabase(world, tables);
  for (const [number, genre] of ['crime', 'poetry', 'crime'].entries()) {
    const id = BigInt(START - Date.parse('2025-01-01T00:00:00Z') - 60_000 + number) * 4_096n;
    const keys = { list: 'all', 'genre-and-shelf': `${genre}#1` };
    database.store(
      'books',
      marshall({ id, title: `book ${id}`, shelf: 1n, genre, creation: `${id}`, ...keys }),
    );
  }
  database.settle();
  const filter = filters[world.choose(filters)]!;
  const ids: bigint[] = [];
  let start = 0;
  let instances = 0;

  function nextInstance() {
    instances += 1;
    return addInstance(world, `instance ${instances}`);
  }

  for (const [number, time] of CREATES.entries()) {
    const writer = world.addProcess(`writer ${number + 1}`);
    world.start(writer, 'creates a book', async () => {
      await sleep(time);
      const genre = number % 2 === 0 ? 'crime' : 'poetry';
      const event = createEvent({ title: `book ${number}`, shelf: 1, genre });
      for (let request = 0; request < 20; request += 1) {
        const call = { instance: nextInstance(), handler: createFunctions.old, event };
        const response = await callFunction(world, writer, call);
        if (response?.status === 201) return;
        await sleep(1_000);
      }
    });
  }

  const reader = world.addProcess('reader');
  world.start(reader, 'reads all pages', async () => {
    await sleep(READ);
    start = world.now();
    let url: string | undefined = `https://example.com/v1/books?limit=2${filter}`;
    for (let pages = 0; url; pages += 1) {
      require(pages < MAX_PAGES, 'A list ends.', { url });
      const call = { instance: nextInstance(), handler: listFunction, event: pageEvent(url) };
      const response = await callFunction(world, reader, call);
      if (response?.status === 200) {
        ids.push(...response.body.map(({ id }: { id: bigint }) => id));
        url = /<(.*)>; rel="next"/.exec(response.headers['Link'] ?? '')?.[1];
      } else {
        const { status } = response ?? {};
        const isExpected = [undefined, 502, 503].includes(status);
        require(isExpected, 'A list gets a 200, or a 503 after a fault.', { status });
        await sleep(1_000);
      }
    }
  });
  await world.run();
  return { database, filter, start, ids };
}

function listScope(...filters: string[]): Scope {
  return {
    async run(world) {
      const { database, filter, start, ids } = await runLists(world, filters);
      const newestFirst = [...new Set(ids)].toSorted((one, other) => (one > other ? -1 : 1));
      const isSorted = isDeepStrictEqual(ids, newestFirst);
      require(isSorted, 'Pages repeat no book, and the newest comes first.', { ids });

      const matches = (book: Record<string, unknown>) =>
        [...new URLSearchParams(filter)].every(([name, value]) => String(book[name]) === value);
      for (const { time, table, after } of database.changes) {
        if (table !== 'books') continue;
        const book: Record<string, unknown> = unmarshall(after!, { wrapNumbers: BigInt });
        const isListed = ids.includes(book['id'] as bigint);
        require(!isListed || matches(book), 'A list contains no book that its filter excludes.', { book });
        const isExpected = matches(book) && time <= start - LISTED_MILLISECONDS;
        const found = { book, ids };
        require(isListed || !isExpected, 'Pages skip no book that was stored some seconds before.', found);
      }
    },
  };
}

export const listScopes: Record<string, Scope> = {
  'pages of a list while books are created': listScope(''),
  'pages of a filtered list while books are created': listScope(
    '&genre=crime',
    '&shelf=1',
    '&genre=crime&shelf=1',
  ),
};
