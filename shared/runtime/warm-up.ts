/** Longest time by which priming delays the first request, for example if the database does not respond. */
const MAX_MILLISECONDS = 500;

/**
 * Number of times that `warmUp` runs the function. The second round runs the code that reuses a connection. A third
 * round would take more CPU time than it saves.
 */
const ROUNDS = 2;

/**
 * Runs a function during init to compile its code and open the database connection before the first request. The function
 * runs faster during init, because Lambda then provides a full core for every memory size. Errors are ignored.
 * https://serverlessland.com/content/service/lambda/guides/effectively-running-java-on-serverless/init-heavy-lifting
 *
 * @param run function without side effects
 */
export async function warmUp(run: () => Promise<unknown>): Promise<void> {
  // Only Lambda and its emulator set this variable, so importing a handler elsewhere does no I/O.
  if (!process.env['AWS_LAMBDA_INITIALIZATION_TYPE']) return;

  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, MAX_MILLISECONDS);
  let hasEnded = false;
  async function runRounds(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) if (!hasEnded) await Promise.try(run).catch(() => {});
  }
  await Promise.race([runRounds(), timeout]);
  // A round that is still running can overlap the first event, but no further round starts.
  hasEnded = true;
  clearTimeout(timer);
}
