/** The longest that a test or a hook may take, in milliseconds. It ends what hangs, and fits a loaded machine. */
export const TEST_LIMIT_MILLISECONDS = 300_000;

/** The longest that a test waits for one event, in milliseconds: short enough for its own error to be the one reported. */
export const WAIT_LIMIT_MILLISECONDS = 120_000;

/** The longest that a test may take on mutated code, in milliseconds. Tests that run it take less than a second. */
export const MUTANT_LIMIT_MILLISECONDS = 20_000;
