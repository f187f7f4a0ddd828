/** The result of an invocation as JSON, or the error in place of one. */
export type Invocation = { result: string } | { error: string };
