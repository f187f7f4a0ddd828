const BOUND_MILLISECONDS = 500;

/** The second round runs what follows an open connection; a third would take as long as it saves. */
const ROUNDS = 2;

/**
 * Runs something during init, when Lambda gives an instance a whole core whatever its memory size: code is then compiled
 * and the connection to the database open before the first request. Failures are ignored, the time is bounded.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib
 *
 * @param act changes nothing
 */
export async function warmUp(run: () => Promise<unknown>): Promise<void> {
  // Only Lambda sets this, so importing a handler elsewhere does no I/O.
  if (!process.env['AWS_LAMBDA_INITIALIZATION_TYPE']) return;

  const { promise: bound, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, BOUND_MILLISECONDS);
  let isOver = false;
  async function runRounds(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) if (!isOver) await Promise.try(run).catch(() => {});
  }
  await Promise.race([runRounds(), bound]);
  // A late round may overlap the first event; no further round starts.
  isOver = true;
  clearTimeout(timer);
}
