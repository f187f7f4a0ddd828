import * as v from 'valibot';
import { invoke, scalarAsText } from './responses.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import { permits } from '../template/permissions.ts';
import { stringOrList } from '../template/resources.ts';
import type { Resource } from '../template/template.ts';

const Statement = v.strictObject({
  Action: stringOrList,
  Effect: v.picklist(['Allow', 'Deny']),
  Resource: stringOrList,
});

/** Result that an authorizer function must return. Any other result is a configuration error, which is not cached. */
const Policy = v.strictObject({
  principalId: v.string(),
  policyDocument: v.strictObject({ Version: v.literal('2012-10-17'), Statement: v.array(Statement) }),
  context: v.optional(v.record(v.string(), scalarAsText), {}),
});

/**
 * Creates a TOKEN authorizer, which caches the policy for a token and evaluates the policy for each request.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
 */
export function createAuthorizer(
  properties: Resource<'AWS::ApiGateway::Authorizer'>['properties'],
  functions: Map<string, LambdaFunction>,
) {
  const { AuthorizerUri, AuthorizerResultTtlInSeconds, IdentityValidationExpression } = properties;
  const expression = new RegExp(IdentityValidationExpression);
  let cache = new Map<string, v.InferOutput<typeof Policy> & { until: number }>();

  return {
    /** Returns `requestContext.authorizer` of the event, or the gateway response's type if the request is rejected. */
    authorize: async (token: string, methodArn: string): Promise<Record<string, string> | string> => {
      if (!token || !expression.test(token)) return 'UNAUTHORIZED';
      const current = cache; // A flush also discards decisions in progress, because it replaces the cache.
      let policy = current.get(token);
      if (!policy || policy.until <= performance.now()) {
        const event = { type: 'TOKEN', authorizationToken: token, methodArn };
        const output = await invoke(functions, AuthorizerUri, event, Policy);
        if (!output) return 'AUTHORIZER_CONFIGURATION_ERROR';
        policy = { ...output, until: performance.now() + AuthorizerResultTtlInSeconds * 1000 };
        current.set(token, policy);
      }
      const { principalId, policyDocument, context } = policy;
      const { Deny = [], Allow = [] } = Object.groupBy(policyDocument.Statement, ({ Effect }) => Effect);
      const action = 'execute-api:Invoke';
      const isAllowed = permits(Allow, action, methodArn) && !permits(Deny, action, methodArn);
      return isAllowed ? { principalId, ...context } : 'ACCESS_DENIED';
    },
    flushCache: () => void (cache = new Map()),
  };
}
