import * as v from 'valibot';
import { scalarAsText } from './integrations.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import { matchesArn } from '../template/permissions.ts';
import { stringOrList } from '../template/resources.ts';
import type { Resource } from '../template/template.ts';

export type Decision = { context: Record<string, string> } | { responseType: string };

export type Authorizer = ReturnType<typeof createAuthorizer>;

/** Result that an authorizer function must return. Any other result is a configuration error, which is not cached. */
const Policy = v.strictObject({
  principalId: v.string(),
  policyDocument: v.strictObject({
    Version: v.literal('2012-10-17'),
    Statement: v.array(
      v.strictObject({
        Action: v.literal('execute-api:Invoke'),
        Effect: v.picklist(['Allow', 'Deny']),
        Resource: stringOrList(),
      }),
    ),
  }),
  context: v.optional(v.record(v.string(), scalarAsText), {}),
});
type Policy = v.InferOutput<typeof Policy>;

/**
 * Creates a TOKEN authorizer, which caches the policy for a token and evaluates the policy for each request.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
 */
export function createAuthorizer(
  properties: Resource<'AWS::ApiGateway::Authorizer'>['properties'],
  authorizerFunction: LambdaFunction,
) {
  const expression = new RegExp(properties.IdentityValidationExpression);
  let cache = new Map<string, { policy: Policy; until: number }>();

  async function findPolicy(token: string, methodArn: string): Promise<Policy | undefined> {
    const current = cache; // A flush also discards decisions in progress, because it replaces the cache.
    const cached = current.get(token);
    if (cached && Date.now() < cached.until) return cached.policy;

    const event = { type: 'TOKEN', authorizationToken: token, methodArn };
    const invocation = await authorizerFunction.invoke(event);
    if ('error' in invocation) console.error(`authorizer: ${invocation.error}`);
    const result = 'result' in invocation ? JSON.parse(invocation.result) : undefined;
    const { success, output: policy } = v.safeParse(Policy, result);
    if (!success) return undefined;
    const now = Date.now();
    for (const [other, { until }] of current) if (until <= now) current.delete(other);
    current.set(token, { policy, until: now + properties.AuthorizerResultTtlInSeconds * 1000 });
    return policy;
  }

  /** @param token value of the Authorization header, or an empty string if the request has none */
  async function authorize(token: string, methodArn: string): Promise<Decision> {
    if (token === '' || !expression.test(token)) return { responseType: 'UNAUTHORIZED' };
    const policy = await findPolicy(token, methodArn);
    if (!policy) return { responseType: 'AUTHORIZER_CONFIGURATION_ERROR' };

    const applying = policy.policyDocument.Statement.filter(({ Resource }) =>
      Resource.some((pattern) => matchesArn(pattern, methodArn)),
    );
    const effects = new Set(applying.map(({ Effect }) => Effect));
    if (effects.has('Deny') || !effects.has('Allow')) return { responseType: 'ACCESS_DENIED' };
    return { context: { principalId: policy.principalId, ...policy.context } };
  }

  return { authorize, flushCache: () => void (cache = new Map()) };
}
