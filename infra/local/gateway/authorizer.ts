import * as v from 'valibot';
import type { ResponseType } from './gateway-responses.ts';
import type { Invocation } from '../lambda/invocation.ts';
import type { LambdaFunction } from '../lambda/lambda.ts';
import { matchesArn } from '../template/permissions.ts';
import { scalarAsText, stringOrList } from '../template/resources.ts';
import type { Resource } from '../template/template.ts';

/** What the authorizer says of a request: the context for the integration, or the gateway response to give. */
export type Decision = { context: Record<string, string> } | { refusal: ResponseType };

export interface Authorizer {
  authorize: (token: string | undefined, methodArn: string) => Promise<Decision>;
  /** Forgets what was decided, and what is being decided. */
  flushCache: () => void;
}

/** What the function must answer with; anything else is a configuration error, and is not kept. */
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
 * A TOKEN authorizer with its cache. What is kept is the policy, by token; it is evaluated anew on each request.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
 */
export function createAuthorizer(
  { properties }: Resource<'AWS::ApiGateway::Authorizer'>,
  authorizerFunction: LambdaFunction,
): Authorizer {
  const expression = new RegExp(properties.IdentityValidationExpression);
  let cache = new Map<string, { policy: Policy; until: number }>();

  async function findPolicy(token: string, methodArn: string): Promise<Policy | undefined> {
    const asked = cache;
    const cached = asked.get(token);
    if (cached && Date.now() < cached.until) return cached.policy;

    const invocation = await authorizerFunction.invoke({
      type: 'TOKEN',
      authorizationToken: token,
      methodArn,
    });
    const policy = readPolicy(invocation);
    if (!policy) return undefined;
    const now = Date.now();
    for (const [other, { until }] of asked) if (until <= now) asked.delete(other);
    asked.set(token, { policy, until: now + properties.AuthorizerResultTtlInSeconds * 1000 });
    return policy;
  }

  async function authorize(token: string | undefined, methodArn: string): Promise<Decision> {
    if (token === undefined || !expression.test(token)) return { refusal: 'UNAUTHORIZED' };
    const policy = await findPolicy(token, methodArn);
    if (!policy) return { refusal: 'AUTHORIZER_CONFIGURATION_ERROR' };

    const applying = policy.policyDocument.Statement.filter(({ Resource }) =>
      Resource.some((pattern) => matchesArn(pattern, methodArn)),
    );
    const effects = new Set(applying.map(({ Effect }) => Effect));
    if (effects.has('Deny') || !effects.has('Allow')) return { refusal: 'ACCESS_DENIED' };
    return { context: { principalId: policy.principalId, ...policy.context } };
  }

  return {
    authorize,
    flushCache() {
      cache = new Map();
    },
  };
}

function readPolicy(invocation: Invocation): Policy | undefined {
  if ('error' in invocation) {
    console.error(`authorizer: ${invocation.error}`);
    return undefined;
  }
  const { success, output } = v.safeParse(Policy, JSON.parse(invocation.result));
  return success ? output : undefined;
}
