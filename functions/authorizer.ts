import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda';
import { generateApiKey } from '../shared/api-key-format.ts';
import { type KeyStore, type VerifiedKey, verifyApiKey } from '../shared/storage/api-keys.ts';
import { authorizationPattern } from '../shared/contract/authorization.ts';
import { environmentVariables, requireEnvironment } from '../shared/names.ts';
import { warmUp } from '../shared/runtime/warm-up.ts';
import { database } from '../shared/storage/database.ts';

/**
 * Returns a policy that allows access if the API key is active, and otherwise denies access. The function does not
 * throw for invalid keys, because CloudWatch would count exceptions as function errors. API Gateway caches the policy
 * for all requests with the same `Authorization` header, so the policy covers all routes of the stage.
 *
 * If the key has a record, the context contains the key's id, so that the access log shows whose key it is. For an
 * expired or revoked key, the context also contains the reason for the denial. For an active key whose record names
 * the key that was rotated first, the context also contains the id of that first key, because idempotency keys belong
 * to that id.
 *
 * @throws Error if the API keys table cannot be read.
 */
export async function handler(event: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const store = keyStore();
  const key = new RegExp(authorizationPattern(store.stage)).exec(event.authorizationToken)?.[1];
  const found = key === undefined ? undefined : await verifyApiKey(store, key);
  const isAllowed = found?.state === 'active';

  return {
    principalId: found?.record.keyId ?? 'nobody',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: isAllowed ? 'Allow' : 'Deny',
          Action: 'execute-api:Invoke',
          // The ARN is arn:aws:execute-api:{region}:{account}:{api}/{stage}/{method}/{path}.
          Resource: event.methodArn.replace(/(?<=[^/]+\/[^/]+\/).+/, '*/*'),
        },
      ],
    },
    ...(found && { context: contextOf(found) }),
  };
}

function contextOf({ record: { keyId, firstKeyId }, state }: VerifiedKey): Record<string, string> {
  if (state !== 'active') return { keyId, reason: state };
  return firstKeyId === undefined ? { keyId } : { keyId, firstKeyId };
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
