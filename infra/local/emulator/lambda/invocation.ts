/** Result of an invocation as JSON, or the error if the invocation failed. */
export type Invocation = { result: string } | { error: string };
