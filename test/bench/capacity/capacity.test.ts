import { describe, expect, test } from '@jest/globals';
import { type Limits, simulateCreates } from './creates.ts';
import { simulatePlacement } from './physical-partitions.ts';
import { simulateLostItems } from './regions.ts';
import { simulateSecondRounds } from './second-rounds.ts';

// The bounds are wide, because few rounds are simulated. The results of more rounds are in docs/scaling.md.

/** Simulates one second of creates several times, and returns the shares of the creates by outcome. */
function burst(createsPerSecond: number, unitsPerItem: number, limits: Limits) {
  const total = { sent: 0, rejected: 0, slow: 0, failed: 0 };
  for (let seed = 0; seed < 12 / limits.listPartitions; seed += 1) {
    const outcome = simulateCreates({ createsPerSecond, seconds: 1, unitsPerItem }, limits, seed);
    for (const name of ['sent', 'rejected', 'slow', 'failed'] as const) total[name] += outcome[name];
  }
  const accepted = total.sent - total.rejected;
  return {
    rejected: total.rejected / total.sent,
    slow: total.slow / accepted,
    failed: total.failed / accepted,
  };
}

describe('a simulated burst of creates', () => {
  test('has the same outcome with the same seed, and another with another seed', () => {
    const traffic = { createsPerSecond: 500, seconds: 1, unitsPerItem: 2 };
    const limits = { rate: 400, burst: 100, listPartitions: 2, savedSeconds: 0.1 };
    const [first, again, other] = [1, 1, 2].map((seed) => simulateCreates(traffic, limits, seed));
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test('causes neither 429s nor 503s below all limits', () => {
    const limits = { rate: 800, burst: 400, listPartitions: 1, savedSeconds: 1 };
    expect(burst(500, 1, limits)).toEqual({ rejected: 0, slow: 0, failed: 0 });
  });

  test('of 3,000 causes 503s if API Gateway accepts 1,000 per second and bursts of 2,000', () => {
    const limits = { rate: 1_000, burst: 2_000, listPartitions: 1 };
    const favorable = burst(3_000, 1, { ...limits, savedSeconds: 1 });
    const unfavorable = burst(3_000, 1, { ...limits, savedSeconds: 0.01 });
    expect(favorable.slow).toBeGreaterThan(0.2);
    expect(favorable.failed).toBeGreaterThan(0.005);
    expect(favorable.failed).toBeLessThan(0.03);
    expect(unfavorable.slow).toBeLessThan(0.65);
    expect(unfavorable.failed).toBeGreaterThan(0.08);
    expect(unfavorable.failed).toBeLessThan(0.16);
  });

  test('of 3,000 needs about 1,000 execution environments at the same time', () => {
    const limits = { rate: 1_000, burst: 2_000, listPartitions: 1, savedSeconds: 1 };
    const traffic = { createsPerSecond: 3_000, seconds: 1, unitsPerItem: 1 };
    const { mostConcurrent } = simulateCreates(traffic, limits, 1);
    expect(mostConcurrent).toBeGreaterThan(800);
    expect(mostConcurrent).toBeLessThan(1_200);
  });

  test('of 600 per second with two write units each causes 503s for about every sixth create', () => {
    const limits = { rate: 1_000, burst: 2_000, listPartitions: 1, savedSeconds: 0.1 };
    const traffic = { createsPerSecond: 600, seconds: 30, unitsPerItem: 2 };
    const { sent, rejected, failed } = simulateCreates(traffic, limits, 1);
    expect(rejected).toBe(0);
    expect(failed / sent).toBeGreaterThan(0.12);
    expect(failed / sent).toBeLessThan(0.2);
  });

  test.each([
    [1, 1, 800, 200],
    [4, 1, 800, 200],
    [1, 2, 400, 100],
    [4, 2, 400, 100],
  ])(
    'on %i list partitions with %i write units per item causes 429s instead of 503s at a rate of %i and a burst of %i per list partition',
    (listPartitions, units, rate, size) => {
      const all = { rate: rate * listPartitions, burst: size * listPartitions, listPartitions };
      const { rejected, failed } = burst(3 * all.rate, units, { ...all, savedSeconds: 0.1 });
      expect(rejected).toBeGreaterThan(0.5);
      expect(failed).toBeLessThan(0.001);
    },
  );
});

test.each([
  [4, 4, 0.06, 0.13, 2, 2.7],
  [4, 64, 0.86, 0.95, 1, 3.9],
  [16, 4, 0, 0.001, 6, 4],
  [16, 64, 0.07, 0.19, 2, 14.2],
])(
  '%i values on %i physical partitions are all apart in a share of %d to %d of the placements, and the median of the fullest partition is %i',
  (values, partitions, least, most, fullest, used) => {
    const placement = simulatePlacement(values, partitions, 1_000, 1);
    expect(placement.apart).toBeGreaterThanOrEqual(least);
    expect(placement.apart).toBeLessThan(most);
    expect(placement.fullest.median).toBe(fullest);
    expect(placement.fullest.p90).toBeGreaterThanOrEqual(fullest);
    expect(placement.used).toBeCloseTo(used, 0);
  },
);

test('a page needs a second round of queries in up to 3% of the lists with up to 16 list partitions', () => {
  for (const items of [20, 100]) {
    for (const listPartitions of [1, 2, 4, 16])
      expect(simulateSecondRounds(items, listPartitions, 1_000, 1)).toBeLessThan(0.03);
  }
  const many = simulateSecondRounds(100, 200, 1_000, 1);
  expect(many).toBeGreaterThan(0.2);
  expect(many).toBeLessThan(0.4);
});

// The number of lost items grows with the square of the rate: at 500 creates per second, 5,300 items a day.
test('two regions with 5,000 creates per second each lose about 530,000 items a day', () => {
  const lost = simulateLostItems(5_000, 10, 1);
  expect(lost).toBeGreaterThan(350_000);
  expect(lost).toBeLessThan(700_000);
});
