/** Time limit for a test or hook, in milliseconds. It stops tests that hang but is long enough for a busy machine. */
export const TEST_LIMIT_MILLISECONDS = 300_000;

/** Time limit for waits within a test, in milliseconds. The test's limit is longer, so the wait reports its error. */
export const WAIT_LIMIT_MILLISECONDS = 120_000;

/** Time limit for a test of mutated code, in milliseconds. With unchanged code, these tests take less than a second. */
export const MUTANT_LIMIT_MILLISECONDS = 20_000;
