/** Time limit for a test or hook, in milliseconds. It ends tests that hang, but is long enough for busy machines. */
export const TEST_LIMIT_MILLISECONDS = 60_000;

/** Time limit for a proof, and for a test of a deployed stage, which can throttle requests, in milliseconds. */
export const PROOF_LIMIT_MILLISECONDS = 300_000;

/** Time limit for a proof that runs the project's checks and tests in a copy, in milliseconds. */
export const COMPLETE_RUN_LIMIT_MILLISECONDS = 900_000;

/** Time limit for a wait within a test, in milliseconds. It is shorter than a test's limit, so the wait fails first. */
export const WAIT_LIMIT_MILLISECONDS = 45_000;

/** Time limit for a test of mutated code, in milliseconds. With unchanged code, these tests take less than a second. */
export const MUTANT_LIMIT_MILLISECONDS = 20_000;
