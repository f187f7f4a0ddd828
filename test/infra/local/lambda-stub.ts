import type { Invocation } from '../../../infra/local/lambda/invocation.ts';
import type { LambdaFunction } from '../../../infra/local/lambda/lambda.ts';

export interface LambdaStub extends LambdaFunction {
  /** The events that it was invoked with. */
  events: any[];
}

/** A function without a worker: answers each event with the next of the invocations, the last of them for good. */
export function lambdaStub(...invocations: Invocation[]): LambdaStub {
  const events: unknown[] = [];
  return {
    events,
    async invoke(event) {
      events.push(event);
      return invocations[Math.min(events.length, invocations.length) - 1]!;
    },
  };
}

/** An invocation whose result is this value. */
export function resultOf(value: unknown): Invocation {
  return { result: JSON.stringify(value) };
}
