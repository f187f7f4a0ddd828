import {
  type AttributeValue,
  DescribeTableCommand,
  DynamoDBClient,
  paginateScan,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { integerOption, UsageError } from '../../infra/command.ts';
import { httpsAgent } from '../../infra/proxy.ts';
import { wholeResponses } from '../../shared/storage/database.ts';
import { countsOf, format, openStore, startReport } from './progress.ts';

export type Item = Record<string, AttributeValue>;

/** A conditional write. Returns whether it changed the table, or false if its condition check failed. */
export type Write = () => Promise<boolean>;

/** Number of segments of a scan. With 10^9 items of a few hundred bytes, a segment has about one GB. */
const SEGMENTS = 256;
/**
 * Number of segments that a process reads at once. With the requests for each segment, up to 8 × 6 requests are in
 * progress, about as many as the SDK's default number of connections, 50.
 */
const CONCURRENT_SEGMENTS = 8;
/** Number of requests that are in progress at once for each segment. */
export const CONCURRENT_REQUESTS = 6;
/**
 * Maximum number of items in a page of a scan. An interrupted process reads its last pages again, so the pages are usually
 * smaller than DynamoDB's maximum of 1 MB.
 */
const ITEMS_PER_PAGE = 1_000;

/** Part of a script's usage text. */
export const USAGE_OF_ALL = `Optional environment variables:

  PART=2/4                reads only the second of four parts, so that four processes can share the work
  READS_PER_SECOND=5000   limits the items that this process reads, so that reads of clients do not fail
  WRITES_PER_SECOND=100   limits the items that this process writes, so that creates of clients do not fail

To resume after an interruption, repeat the command, with the same or another number of parts. The progress is in a
folder of the working directory. Delete the folder when all parts are finished. Without PART, the script deletes it.`;

/** File with the permissions that the scripts need. */
export const PERMISSIONS = 'docs/policies/break-glass.json';

export const client = new DynamoDBClient({
  // After a throttled request, the SDK also delays other requests, so a request hardly ever needs all attempts.
  retryMode: 'adaptive',
  maxAttempts: 10,
  // An empty response to a scan would otherwise count as a segment without items.
  requestHandler: wholeResponses(10_000, httpsAgent),
  cacheMiddleware: true,
});

export async function describeTable(TableName: string): Promise<TableDescription> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  return Table!;
}

interface Job {
  /** Name of the folder with the progress. A job resumes an interrupted job with the same name. */
  name: string;
  /** The table to scan. */
  table: TableDescription;
  /** What a write does to an item, such as `copied`. */
  done: string;
  /** Returns the writes that the items of a page need, up to one for each item. */
  writesFor: (items: Item[]) => Write[] | Promise<Write[]>;
}

/**
 * Reads the items of a table with strongly consistent scans, and performs the writes that the items need. Stores the
 * progress after each page of a segment, so that no item is skipped after an interruption. Prints the progress.
 *
 * @throws UsageError if the environment variable PART or WRITES_PER_SECOND is invalid, or if the progress cannot be
 *   read or stored
 */
export async function scanAndWrite({ name, table, done, writesFor }: Job): Promise<void> {
  const { PART } = process.env;
  const segments = segmentsOf(PART);
  const pace = paceOf('WRITES_PER_SECOND');
  const folder = `${name}-${SEGMENTS}`;
  const store = openStore(folder);
  const all = segments.map((segment) => ({ segment, progress: store.read(segment) }));
  const unfinished = all.filter(({ progress }) => progress.last !== 'end');
  const progressOfAll = all.map(({ progress }) => progress);

  const { TableName, ItemCount = 0 } = table;
  const prefix = PART === undefined ? '' : `Part ${PART}: `;
  const estimate = (ItemCount * segments.length) / SEGMENTS;
  const { read: readBefore } = countsOf(progressOfAll);
  if (readBefore > 0)
    console.log(
      `${prefix}Continuing after ${format(readBefore)} items. To read them again, delete the folder ${folder}.`,
    );
  if (estimate === 0)
    console.log(
      `${prefix}DynamoDB counts items only every six hours, and has counted none in ${TableName} yet. ` +
        'The first estimate follows when the first segments are finished.',
    );
  const report = startReport({ prefix, done, progress: progressOfAll, estimate });

  await forEachOf(spread(unfinished), CONCURRENT_SEGMENTS, async ({ segment, progress }) => {
    const scan = { TableName, Segment: segment, TotalSegments: SEGMENTS, ConsistentRead: true };
    const pages = paginateScan({ client, pageSize: ITEMS_PER_PAGE, startingToken: progress.last }, scan);
    for await (const { Items = [], LastEvaluatedKey = 'end' } of pages) {
      const writes = await writesFor(Items);
      progress.read += Items.length - writes.length;
      report();
      await forEachOf(writes, CONCURRENT_REQUESTS, async (write) => {
        await pace();
        if (await write()) progress.written += 1;
        progress.read += 1;
        report();
      });
      progress.last = LastEvaluatedKey;
      store.write(segment, progress);
    }
  });
  // A part keeps the folder, because it cannot know whether another part still has to resume with its progress.
  if (PART === undefined) store.delete();
  const { read, written } = countsOf(progressOfAll);
  console.log(`${prefix}${format(read)} items read, ${format(written)} ${done}. Finished.`);
}

/** Calls `act` for each item, up to `concurrency` times at once. */
export async function forEachOf<T>(
  items: T[],
  concurrency: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  // All loops share the iterator, so each item is in only one of the loops.
  const remaining = items.values();
  const loops = Array.from({ length: concurrency }, async () => {
    for (const item of remaining) await act(item);
  });
  await Promise.all(loops);
}

/** Returns the segments of a part such as `2/4`. @throws UsageError if the part does not exist */
function segmentsOf(part = '1/1'): number[] {
  const [, number = 0, parts = 0] = /^(\d{1,3})\/(\d{1,3})$/.exec(part)?.map(Number) ?? [];
  if (number < 1 || number > parts || parts > SEGMENTS)
    throw new UsageError(
      `PART must be the number of a part and the number of parts, such as 2/4, with up to ${SEGMENTS} parts.`,
    );
  const startOf = (index: number) => Math.floor((index * SEGMENTS) / parts);
  const first = startOf(number - 1);
  return Array.from({ length: startOf(number) - first }, (_, index) => first + index);
}

/**
 * Returns segments in an order in which neighbors are not scanned at once. Neighbors can be in the same partition of the
 * table, whose throughput would limit the speed.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Scan.html#Scan.ParallelScanPerformance
 */
function spread<T>(segments: T[]): T[] {
  const length = Math.ceil(segments.length / CONCURRENT_SEGMENTS);
  const firsts = Array.from({ length }, (_, offset) => offset);
  return firsts.flatMap((first) => segments.filter((_, index) => index % length === first));
}

/**
 * Returns a function that waits until a limit allows the caller to read or write `count` items.
 *
 * @param variable environment variable with the number of items per second. @default - no limit
 * @throws UsageError if the variable's value is not an integer of at least 1
 */
export function paceOf(variable: string): (count?: number) => Promise<void> {
  const perSecond = process.env[variable];
  if (perSecond === undefined) return async () => {};
  const interval = 1_000 / integerOption(variable, perSecond, 1, 1_000_000);
  let next = 0;
  return async (count = 1) => {
    const now = performance.now();
    // Time without calls is not made up for, because a burst could exceed the limit of the table.
    const start = Math.max(next, now);
    next = start + count * interval;
    // This is the global setTimeout, because tests cannot control the timer of node:timers/promises.
    if (start > now) await new Promise((resolve) => setTimeout(resolve, start - now));
  };
}
