import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent, Context } from 'aws-lambda';
import { generateApiKey } from '../shared/api-key-format.ts';
import { type KeyStore, verifyApiKey } from '../shared/storage/api-keys.ts';
import { authorizationPattern } from '../shared/contract/authorization.ts';
import { environmentVariables, metrics, requireEnvironment } from '../shared/names.ts';
import { warmUp } from '../shared/runtime/warm-up.ts';
import { database } from '../shared/storage/database.ts';
import { count } from '../shared/telemetry.ts';

/**
 * Returns a policy that allows access if the API key is active. Otherwise, the policy denies access, because an
 * exception would count as a function error. API Gateway caches the policy per key, so the policy covers all routes of
 * the stage.
 *
 * @throws Error if the API keys table cannot be read.
 */
export async function handler(
  event: APIGatewayTokenAuthorizerEvent,
  { functionVersion: version }: Pick<Context, 'functionVersion'>,
): Promise<APIGatewayAuthorizerResult> {
  const store = keyStore();
  const key = new RegExp(authorizationPattern(store.stage)).exec(event.authorizationToken)?.[1];
  const record = key === undefined ? undefined : await verifyApiKey(store, key);
  if (!record) count(metrics.rejections, { operation: 'authorizer', version });

  return {
    principalId: record?.keyId ?? 'nobody',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: record ? 'Allow' : 'Deny',
          Action: 'execute-api:Invoke',
          // The ARN is arn:aws:execute-api:{region}:{account}:{api}/{stage}/{method}/{path}.
          Resource: event.methodArn.replace(/(?<=[^/]+\/[^/]+\/).+/, '*/*'),
        },
      ],
    },
    ...(record && { context: { keyId: record.keyId } }),
  };
}

function keyStore(): KeyStore {
  return {
    stage: requireEnvironment(environmentVariables.stage),
    table: requireEnvironment(environmentVariables.apiKeysTable),
    database,
  };
}

await warmUp(async () => {
  const store = keyStore();
  await verifyApiKey(store, generateApiKey(store.stage));
});
