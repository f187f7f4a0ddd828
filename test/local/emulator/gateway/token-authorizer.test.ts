import { afterEach, expect, jest, test } from '@jest/globals';
import { createAuthorizer } from '../../../../infra/local/emulator/gateway/token-authorizer.ts';
import type { Invocation } from '../../../../infra/local/emulator/lambda/instance.ts';
import { lambdaStub, policyOf, resultOf } from '../lambda-stub.ts';
import { lambdaFunction, role, templateOf, tokenAuthorizer } from '../sample-resources.ts';

const stageArn = 'arn:aws:execute-api:us-east-1:000000000000:Api/staging';
const listArn = `${stageArn}/GET/v1/books`;
const createArn = `${stageArn}/POST/v1/books`;

const allow = { Effect: 'Allow', Resource: `${stageArn}/*/*` };
const deny = { ...allow, Effect: 'Deny' };

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

test('the authorizer rejects a request that the policy denies, denies and allows, or does not mention', async () => {
  const other = { Effect: 'Allow', Resource: createArn };
  for (const policy of [policyOf(deny), policyOf(allow, deny), policyOf(other)]) {
    const { authorize } = authorizerWith(resultOf(policy));
    expect([policy, await authorize('Bearer abc', listArn)]).toEqual([policy, 'ACCESS_DENIED']);
  }
});

test('the authorizer caches the policy of a token, and evaluates it for each route', async () => {
  const allowList = policyOf({ Effect: 'Allow', Resource: listArn });
  const { authorize, fn } = authorizerWith(resultOf(allowList), resultOf(policyOf(deny)));
  expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
  expect(await authorize('Bearer abc', createArn)).toBe('ACCESS_DENIED');
  expect(fn.invoke).toHaveBeenCalledTimes(1);
  expect(await authorize('Bearer xyz', listArn)).toBe('ACCESS_DENIED');
});

test('the authorizer calls the function again after the time to live', async () => {
  const { authorize } = authorizerWith(resultOf(policyOf(allow)), resultOf(policyOf(deny)));
  const time = performance.now();
  expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
  jest.spyOn(performance, 'now').mockReturnValue(time + 59_000);
  expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
  jest.spyOn(performance, 'now').mockReturnValue(time + 3_600_000);
  expect(await authorize('Bearer abc', listArn)).toBe('ACCESS_DENIED');
});

// npm start -- --watch flushes the cache when it has reloaded the authorizer.
test('the authorizer calls the function again after a flush, also for a call that was in progress', async () => {
  const policies = [policyOf(allow), policyOf(allow), policyOf(deny)];
  const { authorize, flushCache } = authorizerWith(...policies.map(resultOf));
  const deciding = authorize('Bearer abc', listArn);
  flushCache();
  expect(await deciding).toHaveProperty('principalId');
  expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
  flushCache();
  expect(await authorize('Bearer abc', listArn)).toBe('ACCESS_DENIED');
});

test.each<[string, Invocation]>([
  ['a failed function', { error: 'the table cannot be read' }],
  ['a policy without statements', resultOf({ principalId: 'key_1', policyDocument: {} })],
  ['a policy without a principal', resultOf({ ...policyOf(allow), principalId: undefined })],
])('the authorizer reports and does not cache a configuration error for %s', async (_name, failure) => {
  jest.spyOn(console, 'error').mockReturnValue();
  const { authorize } = authorizerWith(failure, resultOf(policyOf(allow)));
  expect(await authorize('Bearer abc', listArn)).toBe('AUTHORIZER_CONFIGURATION_ERROR');
  expect(await authorize('Bearer abc', listArn)).toHaveProperty('principalId');
});
