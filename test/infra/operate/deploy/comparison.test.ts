import { expect, test } from '@jest/globals';
import { chanceOfAtLeast, isWorse } from '../../../../infra/operate/deploy/comparison.ts';

test.each([
  [5, 5, 0.1, 0.00001],
  [1, 5, 0.1, 0.40951],
  [9, 10, 0.5, 11 / 1024],
  [3, 10, 0.5, 1],
  [0, 0, 0.1, 1],
])(
  'the probability of at least %d of %d events, each with the probability %d, is %d',
  (least, trials, probability, expected) => {
    expect(chanceOfAtLeast(least, trials, probability)).toBeCloseTo(expected, 10);
  },
);

test.each<[share: number, oldFailures: number, newFailures: number, expected: boolean]>([
  [0.1, 0, 4, false],
  [0.1, 0, 5, true],
  [0.1, 90, 10, false],
  [0.1, 900, 155, true],
  [0.1, 53_700, 6_300, false],
  [0.5, 0, 14, false],
  [0.5, 0, 15, true],
  [0.1, 5_400, 890, false],
  [0.1, 5_400, 910, true],
  [0.1, 540_000, 60_000, false],
])(
  'if the new version gets %d of the requests, %d failures of the old version and %d of the new one show that the new one is worse: %p',
  (share, old, fresh, expected) => {
    expect(isWorse(share, old, fresh)).toBe(expected);
  },
);

test('of 2,000 canaries in which clients cause failures in both versions, fewer than four stop by chance', () => {
  let state = 1;
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  let stopped = 0;
  for (let canary = 0; canary < 2_000; canary += 1) {
    let [old, fresh] = [0, 0];
    let isStopped = false;
    for (let minute = 0; minute < 10; minute += 1) {
      for (let failure = 0; failure < 30; failure += 1) {
        if (random() < 0.1) fresh += 1;
        else old += 1;
      }
      isStopped ||= isWorse(0.1, old, fresh);
    }
    if (isStopped) stopped += 1;
  }
  expect(stopped).toBeLessThan(4);
});
