const MAX_MILLISECONDS = 500;

/** The second round runs on an open connection. A third round would cost as much time as it saves. */
const ROUNDS = 2;

/**
 * Runs a function during init, so that its code is compiled and the database connection is open before the first request.
 * During init, Lambda provides a full core for every memory size. Errors are ignored, and the time is limited.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib
 *
 * @param run function without side effects
 */
export async function warmUp(run: () => Promise<unknown>): Promise<void> {
  // Only Lambda sets this, so importing a handler elsewhere does no I/O.
  if (!process.env['AWS_LAMBDA_INITIALIZATION_TYPE']) return;

  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, MAX_MILLISECONDS);
  let hasEnded = false;
  async function runRounds(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) if (!hasEnded) await Promise.try(run).catch(() => {});
  }
  await Promise.race([runRounds(), timeout]);
  // A late round can overlap the first event, but no further round starts.
  hasEnded = true;
  clearTimeout(timer);
}
