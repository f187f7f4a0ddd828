/**
 * Probability below which a difference between two versions does not count as chance. At 10% of the requests, five
 * failures are enough if the old version has none. A deployment makes a few hundred comparisons. If many requests fail
 * in both versions, about one deployment in a hundred therefore stops by chance.
 */
const MAX_PROBABILITY = 5e-5;

/**
 * Ratio of the new version's rate of failures to the old version's rate, below which a difference does not matter. AWS
 * does not document how precisely Lambda divides the requests. Without this minimum, a flood of failures could
 * therefore make an error in the division look like a difference between the versions.
 */
const MIN_RATIO = 1.5;

/**
 * Returns whether a new version has more failures than its share of the requests explains. Lambda routes each request
 * at random, so clients cannot choose the version that fails. Whatever they send, the failures of equally good versions
 * divide like the requests.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuring-alias-routing.html
 *
 * @param share share of the requests that the new version gets
 * @param oldFailures number of failures of the old version in the same time
 */
export function isWorse(share: number, oldFailures: number, newFailures: number): boolean {
  const isMuchWorse = newFailures / share >= (MIN_RATIO * oldFailures) / (1 - share);
  return isMuchWorse && chanceOfAtLeast(newFailures, oldFailures + newFailures, share) < MAX_PROBABILITY;
}

/**
 * Returns the probability of at least `least` successes in `trials` trials, each of which succeeds with `probability`,
 * or 1 if `least` does not exceed the mean.
 */
export function chanceOfAtLeast(least: number, trials: number, probability: number): number {
  // Above the mean, the terms decrease, so the sum can end with the first term that is 0. Below the mean, the sum is
  // never small, so 1 is exact enough.
  if (least <= trials * probability) return 1;
  let logarithm = (trials - least) * Math.log1p(-probability) + least * Math.log(probability);
  for (let index = 1; index <= trials - least; index += 1) logarithm += Math.log((least + index) / index);
  const odds = probability / (1 - probability);
  let term = Math.exp(logarithm);
  let sum = 0;
  for (let successes = least; successes <= trials && term > 0; successes += 1) {
    sum += term;
    term *= ((trials - successes) / (successes + 1)) * odds;
  }
  return Math.min(1, sum);
}
