import { quantile } from '../measurements.ts';
import { seededRandom } from './random.ts';

export interface Placement {
  /** Share of the placements in which each value has a physical partition of its own. */
  apart: number;
  /** Number of values in the fullest physical partition, as quantiles over the placements. */
  fullest: { median: number; p90: number };
  /** Mean number of physical partitions that contain a value. */
  used: number;
}

/**
 * Simulates how the partition key values of an index are placed on its physical partitions. A value's hash selects its
 * physical partition. The partitions are assumed to have equal ranges of hashes. The newest items with the same value
 * are in one physical partition, because DynamoDB does not split a partition for traffic if the sort key always
 * increases.
 * https://aws.amazon.com/blogs/database/part-2-scaling-dynamodb-how-partitions-hot-keys-and-split-for-heat-impact-performance/
 *
 * Unknown: the hash function, and how many physical partitions an index has. A new index presumably has four, because
 * it takes 4,000 write units and each physical partition takes 1,000. Omitted: under sustained traffic, DynamoDB can
 * split a physical partition between two values.
 */
export function simulatePlacement(
  values: number,
  physicalPartitions: number,
  rounds: number,
  seed: number,
): Placement {
  const random = seededRandom(seed);
  const placements = Array.from({ length: rounds }, () => {
    const valuesOf = new Map<number, number>();
    for (let value = 0; value < values; value += 1) {
      const partition = Math.floor(random() * physicalPartitions);
      valuesOf.set(partition, (valuesOf.get(partition) ?? 0) + 1);
    }
    return { used: valuesOf.size, fullest: Math.max(...valuesOf.values()) };
  });
  const mean = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0) / rounds;
  const fullest = placements.map((placement) => placement.fullest);
  return {
    apart: mean(placements.map(({ used }) => (used === values ? 1 : 0))),
    fullest: { median: quantile(fullest, 0.5), p90: quantile(fullest, 0.9) },
    used: mean(placements.map(({ used }) => used)),
  };
}
