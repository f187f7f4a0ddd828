import { jest } from '@jest/globals';
import type { Invocation } from '../../../infra/local/emulator/lambda/instance.ts';
import type { LambdaFunction } from '../../../infra/local/emulator/lambda/lambda.ts';

/**
 * Returns a stub of a Lambda function. Its calls return the given invocations in order. Further calls return the last
 * invocation.
 */
export function lambdaStub(...invocations: Invocation[]) {
  const invoke = jest.fn<LambdaFunction['invoke']>().mockResolvedValue(invocations.at(-1)!);
  for (const invocation of invocations) invoke.mockResolvedValueOnce(invocation);
  return { invoke };
}

export function resultOf(value: unknown): Invocation {
  return { result: JSON.stringify(value) };
}

/** Returns an authorizer's result with a policy that contains the given statements. */
export function policyOf(...statements: { Effect: string; Resource: string }[]) {
  const Statement = statements.map((statement) => ({ Action: 'execute-api:Invoke', ...statement }));
  const policyDocument = { Version: '2012-10-17', Statement };
  return { principalId: 'key_1', policyDocument, context: { keyId: 'key_1' } };
}
