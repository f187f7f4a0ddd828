/**
 * Returns a function that generates numbers from 0 up to 1, so that a simulation with the same seed has the same result.
 * The algorithm is mulberry32, which passes the statistical tests of gjrand.
 * https://github.com/cprosche/mulberry32
 */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
