import { awsLimits } from '../../../infra/capacity.ts';
import { seededRandom } from './random.ts';

// Simulates creates that exceed the limits of API Gateway and of an index's partition key values.

/** Duration of an attempt. AWS promises single-digit milliseconds, and only the order of magnitude matters here. */
const ATTEMPT_MILLISECONDS = 5;
/** Number of attempts per database call, as in `shared/storage/database.ts`. */
const MAX_ATTEMPTS = 3;
/** Longest pause before the first retry of a throttled call. Each further pause can be twice as long (`@smithy/core/retry`). */
const PAUSE_MILLISECONDS = 1_000;
/** A create is slow if its response takes longer than this. */
const SLOW_MILLISECONDS = 500;

export interface Traffic {
  /** Creates that clients send per second, at random times. They do not retry error responses. */
  createsPerSecond: number;
  seconds: number;
  /** Write units of each item in an index. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html */
  unitsPerItem: number;
}

export interface Limits {
  /**
   * API Gateway's token bucket, which is full at the start.
   * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-request-throttling.html
   */
  rate: number;
  burst: number;
  /** Number of list partitions. Each is assumed to have a physical partition of its own in each index. */
  listPartitions: number;
  /**
   * Time for which DynamoDB saves unused units of a key, in seconds. With 1, a key can take 1,000 units at once. AWS
   * documents only units per second, and advises against relying on burst capacity. The less DynamoDB saves, the more
   * it throttles.
   */
  savedSeconds: number;
}

/** Numbers of creates. */
export interface Outcome {
  sent: number;
  /** Creates that API Gateway rejects with a 429. */
  rejected: number;
  /** Creates that reach the function and take over half a second, whether or not they get a 503. */
  slow: number;
  /** Creates that DynamoDB throttles three times, so that they get a 503. */
  failed: number;
  /** Largest number of creates in progress at the same time. Each needs a Lambda execution environment of its own. */
  mostConcurrent: number;
}

interface Create {
  start: number;
  listPartition: number;
  attempts: number;
}

/**
 * Simulates one stage. If an index throttles a write, DynamoDB does not apply the write to the table or the other
 * indexes.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/gsi-throttling.html
 *
 * All items are in the index `newest`, so the simulation contains only this index. The other indexes have more keys.
 *
 * Two limits are omitted, because creates do not reach them within a simulated minute: the function's limit of 9.5 s,
 * because a create pauses for at most 3 s, and the SDK's 500 retry tokens per instance, because an unsuccessful create
 * costs 10 tokens and takes 1.5 s on average. Lambda's limits are omitted although creates can reach them. How DynamoDB
 * counts within a second is unknown.
 */
export function simulateCreates(traffic: Traffic, limits: Limits, seed: number): Outcome {
  const { createsPerSecond, seconds, unitsPerItem } = traffic;
  const { rate, burst, listPartitions, savedSeconds } = limits;
  const random = seededRandom(seed);
  const outcome: Outcome = { sent: 0, rejected: 0, slow: 0, failed: 0, mostConcurrent: 0 };

  /** Attempts by the millisecond at which they start. */
  const attempts: Create[][] = [];
  const attemptAt = (time: number, create: Create) => (attempts[Math.floor(time)] ??= []).push(create);

  const gateway = tokenBucket(burst, rate / 1_000);
  // The times between independent requests have an exponential distribution.
  const pause = () => (-Math.log(1 - random()) / createsPerSecond) * 1_000;
  for (let time = pause(); time < seconds * 1_000; time += pause()) {
    outcome.sent += 1;
    const create = { start: time, listPartition: Math.floor(random() * listPartitions), attempts: 0 };
    if (gateway(time, 1)) attemptAt(time, create);
    else outcome.rejected += 1;
  }

  const keys = Array.from({ length: listPartitions }, () =>
    tokenBucket(awsLimits.keyWrites * savedSeconds, awsLimits.keyWrites / 1_000),
  );
  let concurrent = 0;
  const ends: number[] = [];
  for (let time = 0; time < Math.max(attempts.length, ends.length); time += 1) {
    for (const create of attempts[time] ?? []) {
      if (create.attempts === 0) concurrent += 1;
      create.attempts += 1;
      const isStored = keys[create.listPartition]!(time, unitsPerItem);
      const end = time + ATTEMPT_MILLISECONDS;
      if (!isStored && create.attempts < MAX_ATTEMPTS) {
        attemptAt(end + random() * PAUSE_MILLISECONDS * 2 ** (create.attempts - 1), create);
        continue;
      }
      if (!isStored) outcome.failed += 1;
      if (end - create.start > SLOW_MILLISECONDS) outcome.slow += 1;
      ends[end] = (ends[end] ?? 0) + 1;
    }
    outcome.mostConcurrent = Math.max(outcome.mostConcurrent, concurrent);
    concurrent -= ends[time] ?? 0;
  }
  return outcome;
}

/**
 * Returns a function that takes tokens and returns true, or returns false if there are not enough.
 *
 * @param capacity number of tokens in the full bucket
 * @param refill tokens per millisecond
 */
function tokenBucket(capacity: number, refill: number): (time: number, tokens: number) => boolean {
  let available = capacity;
  let checked = 0;
  return (time, tokens) => {
    available = Math.min(capacity, available + (time - checked) * refill);
    checked = time;
    if (available < tokens) return false;
    available -= tokens;
    return true;
  };
}
