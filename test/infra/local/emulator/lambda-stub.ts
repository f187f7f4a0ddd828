import type { Invocation } from '../../../../infra/local/emulator/lambda/instance.ts';
import type { LambdaFunction } from '../../../../infra/local/emulator/lambda/lambda.ts';

export interface LambdaStub extends LambdaFunction {
  events: any[];
}

/** Creates a stub that returns `invocations` in order and then keeps returning the last one. */
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

export function resultOf(value: unknown): Invocation {
  return { result: JSON.stringify(value) };
}
