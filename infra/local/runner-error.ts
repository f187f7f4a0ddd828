/** Something that whoever starts the local service can mend; shown as one message, without a stack trace. */
export class RunnerError extends Error {
  override readonly name = 'RunnerError';
}
