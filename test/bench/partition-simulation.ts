import { listPartitionOf, newPetId } from '../../shared/storage/pet-id.ts';

// What DynamoDB's limit for one key of an index makes of creates that come faster.

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html */
export const WRITE_UNITS_PER_SECOND = 1_000;
/** At most, before the second and the third attempt of a call that is throttled: see docs/reliability.md, "Time". */
const PAUSE_MILLISECONDS = [1_000, 2_000];
const START = Date.UTC(2026, 0, 1);
const RANDOM_VALUES = 2 ** 12;

export interface Load {
  /** Keys over which new pets are spread: `listPartitions`. */
  partitions: number;
  /** On average. They come at random moments, as from many clients (a Poisson process). */
  createsPerSecond: number;
  seconds: number;
  /** Not 0. */
  seed: number;
}

export interface Course {
  creates: number;
  /** Those that were throttled at least once. */
  throttled: number;
  /** Those that were throttled at each attempt, and answered 503. */
  refused: number;
}

interface Create {
  partition: string;
  attempts: number;
}

/**
 * Counts what becomes of creates while each key of the index `newest` takes 1,000 of them in each second and throttles the
 * others. Each writes one unit, as a pet of at most 1 KB does. A throttled one is tried again after a pause of random
 * length, three times in all.
 *
 * Left out: burst capacity, which AWS does not promise; DynamoDB's queue between table and index, which puts off the
 * throttling by moments; and the SDK's retry quota, by which an instance that is refused all the time tries less often.
 * `newest-by-status` is not counted: a key of it gets at most what the one of `newest` gets.
 */
export function simulateCreates({ partitions, createsPerSecond, seconds, seed }: Load): Course {
  const random = randomNumbers(seed);
  const course: Course = { creates: 0, throttled: 0, refused: 0 };
  const due = new Map<number, Create[]>();
  let used = new Map<string, number>();

  for (let millisecond = 0; millisecond < seconds * 1_000 || due.size > 0; millisecond += 1) {
    if (millisecond % 1_000 === 0) used = new Map();
    const creates = due.get(millisecond) ?? [];
    due.delete(millisecond);
    const arrivals = millisecond < seconds * 1_000 ? poisson(createsPerSecond / 1_000, random) : 0;
    for (let arrival = 0; arrival < arrivals; arrival += 1) {
      const id = newPetId(START + millisecond, Math.floor(random() * RANDOM_VALUES));
      creates.push({ partition: listPartitionOf(id, partitions), attempts: 0 });
    }
    course.creates += arrivals;

    for (const create of creates) {
      const units = used.get(create.partition) ?? 0;
      if (units < WRITE_UNITS_PER_SECOND) {
        used.set(create.partition, units + 1);
        continue;
      }
      const pause = PAUSE_MILLISECONDS[create.attempts];
      create.attempts += 1;
      if (create.attempts === 1) course.throttled += 1;
      if (pause === undefined) {
        course.refused += 1;
        continue;
      }
      const again = millisecond + 1 + Math.floor(random() * pause);
      if (!due.get(again)?.push(create)) due.set(again, [create]);
    }
  }
  return course;
}

/** How many events there are in a span of time that has so many on average (Knuth's method). */
function poisson(average: number, random: () => number): number {
  const end = Math.exp(-average);
  let count = 0;
  for (let product = random(); product > end; product *= random()) count += 1;
  return count;
}

/** Numbers from 0 to below 1, the same for the same seed: xorshift (Marsaglia 2003), with 32 bits of state. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
