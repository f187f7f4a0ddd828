import * as v from 'valibot';
import { type Functions, invoke } from './invoke.ts';
import { scalarAsText } from './proxy-result.ts';
import type { GatewayResponseType } from './static-responses.ts';
import { permits } from '../template/permissions.ts';
import { stringOrList } from '../template/resources.ts';
import type { Resource } from '../template/template.ts';

const Statement = v.strictObject({
  Action: stringOrList,
  Effect: v.picklist(['Allow', 'Deny']),
  Resource: stringOrList,
});

/** Result that an authorizer function must return. Any other result is a configuration error, which is not cached. */
const AuthorizerResult = v.strictObject({
  principalId: v.string(),
  policyDocument: v.strictObject({ Version: v.literal('2012-10-17'), Statement: v.array(Statement) }),
  context: v.optional(v.record(v.string(), scalarAsText), {}),
});

/** Maximum number of cached results, so that made-up tokens do not fill the memory. */
const MAX_CACHED = 1_000;

interface CacheEntry {
  result: v.InferOutput<typeof AuthorizerResult>;
  /** Time on the clock of `performance.now()`. */
  expiresAt: number;
}

/**
 * Creates a TOKEN authorizer, which caches the policy for a token and evaluates the policy for each request.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
 */
export function createAuthorizer(
  properties: Resource<'AWS::ApiGateway::Authorizer'>['properties'],
  functions: Functions,
) {
  const tokenPattern = new RegExp(properties.IdentityValidationExpression);
  let cache = new Map<string, CacheEntry>();

  /** Returns the cached result for the token, or the function's result, or undefined if `invoke` returns undefined. */
  async function resultFor(token: string, methodArn: string): Promise<CacheEntry['result'] | undefined> {
    // If the cache is flushed during the call, the result is stored in the previous cache, which nobody reads.
    const current = cache;
    const cached = current.get(token);
    if (cached && cached.expiresAt > performance.now()) return cached.result;
    const event = { type: 'TOKEN', authorizationToken: token, methodArn };
    const result = await invoke(functions, properties.AuthorizerUri, event, AuthorizerResult);
    if (!result) return undefined;
    const expiresAt = performance.now() + properties.AuthorizerResultTtlInSeconds * 1000;
    current.set(token, { result, expiresAt });
    if (current.size > MAX_CACHED) current.delete(current.keys().next().value!); // the oldest token
    return result;
  }

  return {
    /** Returns `requestContext.authorizer` of the event, or the gateway response's type if the request is rejected. */
    authorize: async (
      token: string,
      methodArn: string,
    ): Promise<Record<string, string> | GatewayResponseType> => {
      if (!token || !tokenPattern.test(token)) return 'UNAUTHORIZED';
      const result = await resultFor(token, methodArn);
      if (!result) return 'AUTHORIZER_CONFIGURATION_ERROR';
      const { principalId, policyDocument, context } = result;
      return isAllowed(policyDocument.Statement, methodArn) ? { principalId, ...context } : 'ACCESS_DENIED';
    },
    flushCache: (): void => {
      cache = new Map();
    },
  };
}

/** Returns whether a statement allows the request and no statement denies the request. */
function isAllowed(statements: v.InferOutput<typeof Statement>[], methodArn: string): boolean {
  const action = 'execute-api:Invoke';
  const allowing = statements.filter(({ Effect }) => Effect === 'Allow');
  const denying = statements.filter(({ Effect }) => Effect === 'Deny');
  return permits(allowing, action, methodArn) && !permits(denying, action, methodArn);
}
