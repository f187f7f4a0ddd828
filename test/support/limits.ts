/** Time limit of a test or hook, in milliseconds. It stops a test that hangs, and is long enough for a loaded machine. */
export const TEST_LIMIT_MILLISECONDS = 300_000;

/** Time limit for one event within a test, in milliseconds: short enough that its own error is reported. */
export const WAIT_LIMIT_MILLISECONDS = 120_000;

/** Time limit of a test on mutated code, in milliseconds. On the original code, these tests take less than a second. */
export const MUTANT_LIMIT_MILLISECONDS = 20_000;
