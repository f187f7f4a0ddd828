import { type Process, require, START, type World } from './world.ts';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { isDeepStrictEqual } from 'node:util';
import { type Database, LAG_MILLISECONDS, startDatabase } from './dynamodb.ts';
import type { Scope } from './schedules.ts';
import {
  bookEvent,
  callFunction,
  createFunctions,
  environment,
  listFunction,
  pageEvent,
  sleep,
  tables,
} from './service.ts';

/** Time after which lists promise to contain a new book. */
const LISTED_MILLISECONDS = 3_000;
const FIRST_PAGE = 'https://example.com/v1/books?limit=2';
const MAX_SKEW_MILLISECONDS = 2_000;

/** Versions of the service that run in a period, with the epochs of list partitions that they know. */
interface Period {
  /** Milliseconds after the start of the world. */
  start: number;
  versions: Epoch[][];
}

type Epoch = [milliseconds: number, count: number];

/**
 * A deployment that changes the number of list partitions and is rolled back, then one with another number, and then a
 * third with fewer partitions.
 */
const deployments: Period[] = [
  { start: 0, versions: [[[-Infinity, 2]]] },
  {
    start: 4_000,
    versions: [
      [[-Infinity, 2]],
      [
        [-Infinity, 2],
        [14_000, 3],
      ],
    ],
  },
  // The first deployment is rolled back before its epoch starts.
  { start: 6_000, versions: [[[-Infinity, 2]]] },
  {
    start: 8_000,
    versions: [
      [[-Infinity, 2]],
      [
        [-Infinity, 2],
        [16_000, 5],
      ],
    ],
  },
  {
    start: 12_000,
    versions: [
      [
        [-Infinity, 2],
        [16_000, 5],
      ],
    ],
  },
  {
    start: 20_000,
    versions: [
      [
        [-Infinity, 2],
        [16_000, 5],
      ],
      [
        [-Infinity, 2],
        [16_000, 5],
        [28_000, 1],
      ],
    ],
  },
  {
    start: 24_000,
    versions: [
      [
        [-Infinity, 2],
        [16_000, 5],
        [28_000, 1],
      ],
    ],
  },
];
const noDeployments = deployments.slice(0, 1);

function partitionsOf(epochs: Epoch[]): string {
  return JSON.stringify(
    epochs.map(([start, count]) => ({
      since: start === -Infinity ? '2025-01-01T00:00:00Z' : new Date(START + start).toISOString(),
      count,
    })),
  );
}

interface Listing {
  url: string;
  start: number;
  ids: bigint[];
}

interface ListsOfScope {
  periods: Period[];
  /** Times at which books are created, in milliseconds after the start of the world. */
  creates: number[];
  /** Times at which all pages of the list are read. */
  lists: number[];
  query?: string;
}

async function runLists(world: World, { periods, creates, lists, query = '' }: ListsOfScope) {
  const database = startDatabase(world, tables);
  for (const [number, genre] of (['crime', 'poetry', 'crime'] as const).entries()) {
    const id = BigInt(START - Date.parse('2025-01-01T00:00:00Z') - 60_000 + number) * 4_096n;
    const partition = `${id % 2n}`;
    const keys = {
      partition,
      genrePartition: `${genre}#${partition}`,
      'genre-shelfPartition': `${genre}#1#${partition}`,
    };
    database.store(
      'books',
      marshall({ id, title: `book ${id}`, shelf: 1n, genre, creation: `${id}`, ...keys }),
    );
  }
  database.settle();
  const listings: Listing[] = [];
  let instances = 0;

  /** Returns an instance of one of the versions that serve requests at this time. */
  function instance(): Process {
    const { versions } = periods.findLast(({ start }) => START + start <= world.now())!;
    const number = world.choose(versions.map((epochs) => `version with ${epochs.length} epochs`));
    const skews = [0, MAX_SKEW_MILLISECONDS, -MAX_SKEW_MILLISECONDS];
    const skew = skews[world.choose(skews.map((milliseconds) => `clock ${milliseconds} ms fast`))]!;
    instances += 1;
    const name = `instance ${instances} (version ${number}${skew ? `, clock ${skew} ms fast` : ''})`;
    const LIST_PARTITIONS = partitionsOf(versions[number]!);
    return world.addProcess(name, {
      environment: { ...environment, LIST_PARTITIONS },
      skew,
      isKillable: true,
    });
  }

  async function pages(client: Process): Promise<void> {
    const listing: Listing = { url: FIRST_PAGE + query, start: world.now(), ids: [] };
    let url: string | undefined = listing.url;
    while (url) {
      const response = await callFunction(world, client, instance(), listFunction, pageEvent(url));
      if (response?.status !== 200) {
        const isExpected = [undefined, 502, 503].includes(response?.status);
        require(isExpected, 'A list gets a 200, or a 503 after a fault.', { status: response?.status });
        await sleep(1_000);
        continue;
      }
      listing.ids.push(...response.body.map(({ id }: { id: bigint }) => id));
      url = /<(.*)>; rel="next"/.exec(response.headers['Link'] ?? '')?.[1];
    }
    listings.push(listing);
  }

  for (const [number, time] of creates.entries()) {
    const writer = world.addProcess(`writer ${number + 1}`);
    world.start(writer, 'creates a book', async () => {
      await sleep(time);
      const genre = number % 2 === 0 ? 'crime' : 'poetry';
      const event = bookEvent({ title: `book ${number}`, shelf: 1n, genre }, `key-${number}`, {
        keyId: 'key_1',
      });
      for (let request = 0; request < 20; request += 1) {
        const response = await callFunction(world, writer, instance(), createFunctions.old, event);
        if (response?.status === 201) return;
        await sleep(1_000);
      }
    });
  }
  for (const [number, time] of lists.entries()) {
    const reader = world.addProcess(`reader ${number + 1}`);
    world.start(reader, 'reads all pages', async () => {
      await sleep(time);
      await pages(reader);
    });
  }
  await world.run();
  return { database, listings };
}

function requirePromises(database: Database, listings: Listing[]): void {
  const created = database.changes.filter(({ table, before }) => table === 'books' && before === undefined);
  for (const { url, start, ids } of listings) {
    const newestFirst = [...new Set(ids)].toSorted((one, other) => (one > other ? -1 : 1));
    require(isDeepStrictEqual(ids, newestFirst), 'Pages repeat no book, and the newest comes first.', {
      ids,
    });
    const genre = new URL(url).searchParams.get('genre');
    const expected = created
      .filter(({ time }) => time <= start - LISTED_MILLISECONDS)
      .map(({ after }) => unmarshall(after!, { wrapNumbers: BigInt }))
      .filter((book) => genre === null || book['genre'] === genre)
      .map(({ id }) => id as bigint);
    const skipped = expected.filter((id) => !ids.includes(id));
    require(skipped.length === 0, 'Pages skip no book that was stored some seconds before.', {
      skipped,
      ids,
    });
  }
}

function listScope(lists: ListsOfScope): Scope {
  return {
    async run(world) {
      const { database, listings } = await runLists(world, lists);
      requirePromises(database, listings);
    },
  };
}

const END = 60_000 + LAG_MILLISECONDS;

export const listScopes: Record<string, Scope> = {
  'pages of a list while books are created': listScope({
    periods: noDeployments,
    creates: [0, 3_090],
    lists: [3_100],
  }),
  'pages of a filtered list while books are created': listScope({
    periods: noDeployments,
    creates: [0, 3_090],
    lists: [3_100],
    query: '&genre=crime',
  }),
  'a list just before or after the start of an epoch': listScope({
    periods: [
      {
        start: 0,
        versions: [
          [
            [-Infinity, 2],
            [16_000, 5],
          ],
        ],
      },
    ],
    creates: [14_200],
    lists: [17_300],
  }),
  'lists over epochs, with versions side by side and a rollback': listScope({
    periods: deployments,
    // The clocks of the instances, or retries, put the third book before or after the start of an epoch.
    creates: [5_000, 11_000, 15_000, 29_000],
    lists: [10_000, 19_000, END],
  }),
};
