import { newId } from '../../../shared/storage/ids.ts';
import { seededRandom } from './random.ts';

const SECONDS_PER_DAY = 86_400;

/**
 * Returns the number of items per day that two regions lose if both create items at random times, and copy them to each
 * other with eventual consistency. If both regions use an id in the same millisecond, the condition of each write holds in
 * its region, and the last write replaces the other item.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
 *
 * Omitted: differences between clocks, which do not change the result, and retries that reach the other region.
 */
export function simulateLostItems(createsPerSecond: number, seconds: number, seed: number): number {
  const random = seededRandom(seed);
  const start = Date.UTC(2026, 0, 1);
  let lost = 0;
  for (let millisecond = 0; millisecond < seconds * 1_000; millisecond += 1) {
    const [one, other] = [idsOf(start + millisecond), idsOf(start + millisecond)];
    lost += one.filter((id) => other.includes(id)).length;
  }
  return (lost / seconds) * SECONDS_PER_DAY;

  /** Returns the ids that a region uses in a millisecond. Their number has a Poisson distribution. */
  function idsOf(time: number): bigint[] {
    const ids: bigint[] = [];
    for (let at = pause(); at < 1; at += pause()) ids.push(newId(time, Math.floor(random() * 2 ** 12)));
    return ids;
  }

  function pause(): number {
    return -Math.log(1 - random()) / (createsPerSecond / 1_000);
  }
}
