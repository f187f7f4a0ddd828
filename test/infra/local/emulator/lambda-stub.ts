import type { Invocation, LambdaFunction } from '../../../../infra/local/emulator/lambda/lambda.ts';

export interface LambdaStub extends LambdaFunction {
  events: any[];
}

/** Creates a stub that returns `invocations` in order, and returns the last invocation for all further events. */
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

/** Returns an authorizer's result with the given statements. */
export function policyOf(...statements: { Effect: string; Resource: string | string[] }[]) {
  const Statement = statements.map((statement) => ({ Action: 'execute-api:Invoke', ...statement }));
  return {
    principalId: 'key_1',
    policyDocument: { Version: '2012-10-17', Statement },
    context: { keyId: 'key_1' },
  };
}
