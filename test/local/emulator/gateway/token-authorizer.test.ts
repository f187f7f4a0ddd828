import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { createAuthorizer } from '../../../../infra/local/emulator/gateway/token-authorizer.ts';
import type { Invocation } from '../../../../infra/local/emulator/lambda/instance.ts';
import { lambdaStub, policyOf, resultOf } from '../lambda-stub.ts';
import { lambdaFunction, role, templateOf, tokenAuthorizer } from '../sample-resources.ts';

const stageArn = 'arn:aws:execute-api:us-east-1:000000000000:Api/staging';
const listArn = `${stageArn}/GET/v1/books`;
const createArn = `${stageArn}/POST/v1/books`;

const allow = { Effect: 'Allow', Resource: `${stageArn}/*/*` };
const deny = { ...allow, Effect: 'Deny' };
const allowStage = policyOf(allow);
const denyStage = policyOf(deny);
const conditional = { ...allow, Condition: {} };
const allowList = policyOf({ Effect: 'Allow', Resource: listArn });

function authorizerWith(...invocations: Invocation[]) {
  const fn = lambdaStub(...invocations);
  const template = templateOf({
    Role: role,
    AuthorizerFunction: lambdaFunction('authorizer'),
    Authorizer: tokenAuthorizer({ 'Fn::GetAtt': ['AuthorizerFunction', 'Arn'] }),
  });
  const [{ properties }] = template.resources('AWS::ApiGateway::Authorizer') as [any];
  return { ...createAuthorizer(properties, new Map([['AuthorizerFunction', fn]])), fn };
}

afterEach(() => {
  jest.restoreAllMocks();
});

/** Returns a token of letters. */
const nameOf = (token: number) => `token${token}`.replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)]!);

describe('the authorizer', () => {
  test.each([
    ['denies', denyStage],
    ['both denies and allows', policyOf(allow, deny)],
    ['does not mention', policyOf({ Effect: 'Allow', Resource: createArn })],
  ])('rejects a request that the policy %s', async (_name, policy) => {
    const { authorize } = authorizerWith(resultOf(policy));
    expect(await authorize('Bearer abc', listArn)).toBe('ACCESS_DENIED');
  });

  test('caches a policy for all requests with the same token', async () => {
    const { authorize, fn } = authorizerWith(resultOf(allowList), resultOf(denyStage));
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
    expect(await authorize('Bearer abc', createArn)).toBe('ACCESS_DENIED');
    expect(fn.invoke).toHaveBeenCalledTimes(1);
    expect(await authorize('Bearer xyz', listArn)).toBe('ACCESS_DENIED');
  });

  test('caches a policy until the cache is flushed', async () => {
    const policies = [allowStage, allowStage, denyStage];
    const { authorize, flushCache } = authorizerWith(...policies.map(resultOf));
    const deciding = authorize('Bearer abc', listArn);
    flushCache();
    expect(await deciding).toHaveProperty('principalId');
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
    flushCache();
    expect(await authorize('Bearer abc', listArn)).toBe('ACCESS_DENIED');
  });

  test('keeps the newest 1,000 results, so that made-up tokens do not fill the memory', async () => {
    const { authorize, fn } = authorizerWith(resultOf(allowStage));
    for (let token = 0; token <= 1_000; token += 1) await authorize(`Bearer ${nameOf(token)}`, listArn);
    await authorize(`Bearer ${nameOf(1_000)}`, listArn);
    await authorize(`Bearer ${nameOf(1)}`, listArn);
    expect(fn.invoke).toHaveBeenCalledTimes(1_001);
    await authorize(`Bearer ${nameOf(0)}`, listArn);
    expect(fn.invoke).toHaveBeenCalledTimes(1_002);
  });

  test('evicts a policy after its TTL even if the system clock is set back', async () => {
    const { authorize } = authorizerWith(resultOf(allowStage), resultOf(denyStage));
    const [clock, time] = [Date.now(), performance.now()];
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
    jest.spyOn(Date, 'now').mockReturnValue(clock - 3_600_000);
    jest.spyOn(performance, 'now').mockReturnValue(time + 59_000);
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
    jest.spyOn(performance, 'now').mockReturnValue(time + 3_600_000);
    expect(await authorize('Bearer abc', listArn)).toBe('ACCESS_DENIED');
  });

  test.each([
    ['a failed function', { error: 'the table cannot be read' }],
    ['a policy without statements', resultOf({ principalId: 'key_1', policyDocument: {} })],
    ['a statement with a condition', resultOf(policyOf(conditional))],
    ['a policy without a principal', resultOf({ policyDocument: allowStage.policyDocument })],
  ])('reports and does not cache a configuration error for %s', async (_name, failure) => {
    jest.spyOn(console, 'error').mockReturnValue();
    const { authorize, fn } = authorizerWith(failure, resultOf(allowStage));
    expect(await authorize('Bearer abc', listArn)).toBe('AUTHORIZER_CONFIGURATION_ERROR');
    expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
    expect(fn.invoke).toHaveBeenCalledTimes(2);
  });
});
