import { fork } from 'node:child_process';
import { once } from 'node:events';
import { PAGE } from '../../../shared/contract/limits.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { environmentVariables, tableVariable } from '../../../shared/names.ts';
import { list } from '../../../shared/storage/lists.ts';
import { oneEpoch } from '../../support/list-epochs.ts';
import { measureInRounds, type Spread, spreadOf } from '../measurements.ts';

const [collection] = collections;

/** Number of lists whose mean CPU time is one value, because a single list is too short for the clock of CPU time. */
const LISTS_PER_VALUE = 5;

/**
 * Measures the CPU time of a list's first page in milliseconds for each number of list partitions, on a whole core, of the
 * code in `shared/storage/lists.ts` and the SDK. The database is a stub in another process, whose CPU time does not count.
 * Omitted: TLS, the rest of the function, and Lambda's CPU limit, which `npm run bench` includes.
 *
 * @param values number of values of each spread
 */
export async function measureListCpu(partitionCounts: number[], values: number): Promise<Spread[]> {
  const stub = fork(new URL('query-stub.ts', import.meta.url));
  try {
    const [origin] = (await once(stub, 'message')) as [string];
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_DYNAMODB: origin,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
      [tableVariable(collection)]: 'stub',
    });
    // The first half of the rounds is discarded, because V8 compiles the code during these rounds.
    const measured = await measureInRounds('CPU time of lists', partitionCounts, 2 * values, cpuOfLists);
    return measured.map((each) => spreadOf(each.slice(values)));
  } finally {
    stub.kill();
  }
}

async function cpuOfLists(partitions: number): Promise<number> {
  process.env[environmentVariables.listPartitions] = oneEpoch(partitions);
  const start = process.cpuUsage();
  for (let number = 0; number < LISTS_PER_VALUE; number += 1) await readPage();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000 / LISTS_PER_VALUE;
}

async function readPage(): Promise<void> {
  const { signal } = new AbortController();
  const { items } = await list(collection, { limit: PAGE.default, filters: {} }, signal);
  const isSorted = items.every(({ id }, index) => index === 0 || id < items[index - 1]!.id);
  if (items.length !== PAGE.default || !isSorted) throw new Error('The list is wrong.');
}
