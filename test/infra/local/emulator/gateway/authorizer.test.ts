import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { type Authorizer, createAuthorizer } from '../../../../../infra/local/emulator/gateway/authorizer.ts';
import type { Invocation } from '../../../../../infra/local/emulator/lambda/instance.ts';
import { type LambdaStub, lambdaStub, resultOf } from '../lambda-stub.ts';

const stageArn = 'arn:aws:execute-api:us-east-1:000000000000:Api/sample';
const listArn = `${stageArn}/GET/v1/pets`;
const createArn = `${stageArn}/POST/v1/pets`;

const denied = { responseType: 'ACCESS_DENIED' };

const allowList = policyOf({ Effect: 'Allow', Resource: listArn });
const allowStage = policyOf({ Effect: 'Allow', Resource: `${stageArn}/*/*` });
const denyStage = policyOf({ Effect: 'Deny', Resource: `${stageArn}/*/*` });

function policyOf(...statements: { Effect: string; Resource: string | string[] }[]) {
  return {
    principalId: 'key_1',
    policyDocument: {
      Version: '2012-10-17',
      Statement: statements.map((statement) => ({ Action: 'execute-api:Invoke', ...statement })),
    },
  };
}

function authorizerWith(...invocations: Invocation[]): Authorizer & { stub: LambdaStub } {
  const stub = lambdaStub(...invocations);
  const properties = {
    Type: 'TOKEN' as const,
    AuthorizerUri: '',
    AuthorizerResultTtlInSeconds: 60,
    IdentitySource: 'method.request.header.Authorization' as const,
    IdentityValidationExpression: '^Bearer [a-z]+$',
  };
  return { ...createAuthorizer(properties, stub), stub };
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the authorizer', () => {
  test.each([
    ['does not match the validation expression', 'Bearer 123'],
    ['is followed by other text', 'Bearer abc def'],
  ])('is not invoked if the token %s', async (_name, token) => {
    const { authorize, stub } = authorizerWith(resultOf(allowStage));
    expect(await authorize(token, listArn)).toEqual({ responseType: 'UNAUTHORIZED' });
    expect(stub.events).toEqual([]);
  });

  test('adds the principal to the context of an allowed request', async () => {
    const policy = policyOf({ Effect: 'Allow', Resource: [createArn, listArn] });
    const { authorize, stub } = authorizerWith(resultOf({ ...policy, context: { keyId: 'key_1' } }));
    expect(await authorize('Bearer abc', listArn)).toEqual({
      context: { principalId: 'key_1', keyId: 'key_1' },
    });
    expect(stub.events).toEqual([{ type: 'TOKEN', authorizationToken: 'Bearer abc', methodArn: listArn }]);
  });

  test.each([
    ['denies', denyStage],
    [
      'both denies and allows',
      policyOf(...allowStage.policyDocument.Statement, ...denyStage.policyDocument.Statement),
    ],
    ['does not list', policyOf({ Effect: 'Allow', Resource: createArn })],
  ])('rejects a request that the policy %s', async (_name, policy) => {
    const { authorize } = authorizerWith(resultOf(policy));
    expect(await authorize('Bearer abc', listArn)).toEqual(denied);
  });

  test('caches a policy for all requests with the same token', async () => {
    const { authorize, stub } = authorizerWith(resultOf(allowList), resultOf(denyStage));
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('context');
    expect(await authorize('Bearer abc', createArn)).toEqual(denied);
    expect(stub.events).toHaveLength(1);
    expect(await authorize('Bearer xyz', listArn)).toEqual(denied);
  });

  test('caches a policy until the cache is flushed', async () => {
    const { authorize, flushCache } = authorizerWith(
      resultOf(allowStage),
      resultOf(allowStage),
      resultOf(denyStage),
    );
    const deciding = authorize('Bearer abc', listArn);
    flushCache();
    expect(await deciding).toHaveProperty('context');
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('context');
    flushCache();
    expect(await authorize('Bearer abc', listArn)).toEqual(denied);
  });

  test.each([
    ['an error', { error: 'the table cannot be read' }],
    ['no statements', resultOf({ principalId: 'key_1', policyDocument: {} })],
    ['a condition', resultOf(policyOf({ Effect: 'Allow', Resource: listArn, Condition: {} } as never))],
    ['no principal', resultOf({ policyDocument: allowStage.policyDocument })],
  ])('reports a configuration error if its function returns %s', async (_name, failure) => {
    jest.spyOn(console, 'error').mockReturnValue();
    const { authorize, stub } = authorizerWith(failure, resultOf(allowStage));
    expect(await authorize('Bearer abc', listArn)).toEqual({
      responseType: 'AUTHORIZER_CONFIGURATION_ERROR',
    });
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('context');
    expect(stub.events).toHaveLength(2);
  });
});
