import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Authorizer, createAuthorizer } from '../../../../infra/local/gateway/authorizer.ts';
import type { Invocation } from '../../../../infra/local/lambda/invocation.ts';
import { type LambdaStub, lambdaStub, resultOf } from '../../../support/lambda-stub.ts';

const stageArn = 'arn:aws:execute-api:us-east-1:000000000000:Api/sample';
const listArn = `${stageArn}/GET/v1/pets`;
const createArn = `${stageArn}/POST/v1/pets`;

const allowList = policyOf({ Effect: 'Allow', Resource: listArn });
const allowStage = policyOf({ Effect: 'Allow', Resource: `${stageArn}/*/*` });
const denyStage = policyOf({ Effect: 'Deny', Resource: `${stageArn}/*/*` });

function policyOf(...statements: { Effect: string; Resource: string }[]) {
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
  return { ...createAuthorizer({ logicalId: 'Authorizer', properties }, stub), stub };
}

beforeEach(() => {
  jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('the authorizer', () => {
  test.each([
    ['is missing', undefined],
    ['is empty', ''],
    ['has another scheme', 'Basic abc'],
    ['has the token of another form', 'Bearer 123'],
    ['has something after the token', 'Bearer abc def'],
  ])('is not asked when the header %s', async (_name, token) => {
    const { authorize, stub } = authorizerWith(resultOf(allowStage));
    expect(await authorize(token, listArn)).toEqual({ refusal: 'UNAUTHORIZED' });
    expect(stub.events).toEqual([]);
  });

  test('is asked with exactly the type, the whole header and the ARN of the method', async () => {
    const { authorize, stub } = authorizerWith(resultOf(allowStage));
    await authorize('Bearer abc', listArn);
    expect(stub.events).toEqual([{ type: 'TOKEN', authorizationToken: 'Bearer abc', methodArn: listArn }]);
  });

  test('lets in whom the policy allows, with principal and context', async () => {
    const { authorize } = authorizerWith(resultOf({ ...allowStage, context: { keyId: 'key_1' } }));
    expect(await authorize('Bearer abc', listArn)).toEqual({
      context: { principalId: 'key_1', keyId: 'key_1' },
    });
  });

  test('takes several resources in one statement', async () => {
    const statement = { Action: 'execute-api:Invoke', Effect: 'Allow', Resource: [createArn, listArn] };
    const { authorize } = authorizerWith(
      resultOf({
        principalId: 'key_1',
        policyDocument: { Version: '2012-10-17', Statement: [statement] },
      }),
    );
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('context');
  });

  test.each([
    ['denies', denyStage],
    [
      'denies and allows',
      policyOf(...allowStage.policyDocument.Statement, ...denyStage.policyDocument.Statement),
    ],
    ['says nothing about this method', policyOf({ Effect: 'Allow', Resource: createArn })],
    ['says nothing at all', policyOf()],
  ])('refuses whom the policy %s', async (_name, policy) => {
    const { authorize } = authorizerWith(resultOf(policy));
    expect(await authorize('Bearer abc', listArn)).toEqual({ refusal: 'ACCESS_DENIED' });
  });

  describe('keeps the policy', () => {
    test('by token, until its time to live is over', async () => {
      const { authorize, stub } = authorizerWith(resultOf(allowStage), resultOf(denyStage));
      expect(await authorize('Bearer abc', listArn)).toHaveProperty('context');
      jest.setSystemTime(59_999);
      expect(await authorize('Bearer abc', listArn)).toHaveProperty('context');
      expect(stub.events).toHaveLength(1);

      jest.setSystemTime(60_000);
      expect(await authorize('Bearer abc', listArn)).toEqual({ refusal: 'ACCESS_DENIED' });
      expect(stub.events).toHaveLength(2);
    });

    test('for that token alone', async () => {
      const { authorize, stub } = authorizerWith(resultOf(allowStage), resultOf(denyStage));
      expect(await authorize('Bearer abc', listArn)).toHaveProperty('context');
      expect(await authorize('Bearer xyz', listArn)).toEqual({ refusal: 'ACCESS_DENIED' });
      expect(stub.events).toHaveLength(2);
    });

    test('and evaluates it anew on each route', async () => {
      const { authorize, stub } = authorizerWith(resultOf(allowList), resultOf(allowStage));
      expect(await authorize('Bearer abc', listArn)).toHaveProperty('context');
      expect(await authorize('Bearer abc', createArn)).toEqual({ refusal: 'ACCESS_DENIED' });
      expect(stub.events).toHaveLength(1);
    });
  });

  test.each([
    ['an error', { error: 'the table cannot be read' }],
    ['a malformed answer: null', resultOf(null)],
    ['a malformed answer: a string', resultOf('Allow')],
    ['a malformed answer: no policy', resultOf({ principalId: 'key_1' })],
    ['a malformed answer: no statements', resultOf({ principalId: 'key_1', policyDocument: {} })],
    [
      'a statement on a condition, which is not modelled',
      resultOf(policyOf({ Effect: 'Allow', Resource: listArn, Condition: {} } as never)),
    ],
    ['a malformed answer: no principal', resultOf({ policyDocument: allowStage.policyDocument })],
  ])('that fails with %s is a fault of the configuration, which is not kept', async (_name, failure) => {
    jest.spyOn(console, 'error').mockReturnValue();
    const { authorize, stub } = authorizerWith(failure, resultOf(allowStage));
    expect(await authorize('Bearer abc', listArn)).toEqual({ refusal: 'AUTHORIZER_CONFIGURATION_ERROR' });
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('context');
    expect(stub.events).toHaveLength(2);
  });
});
