/** Longer than healthy requests take; a database that does not answer keeps the first client waiting anyway. */
const BOUND_MILLISECONDS = 500;

/** In the second round runs what follows an open connection. A third one would take as long as it saves. */
const ROUNDS = 2;

/**
 * Does something while Lambda initialises an instance, which it does with a whole core whatever the memory size: what the first
 * client asks for is then loaded and compiled, and its connection to the database open. What comes of it is ignored, and it is
 * waited for in bounded time.
 * https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib
 *
 * @param act must change nothing.
 */
export async function warmUp(act: () => Promise<unknown>): Promise<void> {
  // Lambda alone sets it: who else loads a function, a test for example, asks nobody for anything by that.
  if (!process.env['AWS_LAMBDA_INITIALIZATION_TYPE']) return;

  const { promise: end, resolve: goOn } = Promise.withResolvers<void>();
  let isOver = false;
  const bound = setTimeout(goOn, BOUND_MILLISECONDS);
  async function repeat(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1) {
      if (isOver) return;
      await act();
    }
  }
  void repeat().then(goOn, goOn);
  await end;
  // What is late ends beside the first event, and nothing else begins there.
  isOver = true;
  clearTimeout(bound);
}
