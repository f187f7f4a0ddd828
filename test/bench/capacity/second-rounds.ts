import { queryLimit } from '../../../shared/list-partitions.ts';
import { seededRandom } from './random.ts';

/**
 * Returns the share of pages for which a list needs a second round of queries, because a list partition contains so many
 * of the page's items that the limit of its first query can hide one of them. Items are assumed to be spread at random.
 * Omitted: items from before the number of list partitions changed.
 *
 * @param items number of items on a page
 */
export function simulateSecondRounds(
  items: number,
  listPartitions: number,
  rounds: number,
  seed: number,
): number {
  const random = seededRandom(seed);
  // A list reads one item more than the page contains (`shared/storage/lists.ts`).
  const limit = queryLimit(items + 1, listPartitions);
  let secondRounds = 0;
  for (let round = 0; round < rounds; round += 1) {
    const counts = new Uint8Array(listPartitions);
    for (let item = 0; item < items; item += 1) counts[Math.floor(random() * listPartitions)]! += 1;
    if (counts.some((count) => count >= limit)) secondRounds += 1;
  }
  return secondRounds / rounds;
}
