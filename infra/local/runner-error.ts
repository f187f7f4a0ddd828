/** An error that the user can fix; printed as one message, without a stack trace. */
export class RunnerError extends Error {
  override readonly name = 'RunnerError';
}
