import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent, Context } from 'aws-lambda';
import { generateApiKey } from '../shared/api-key-format.ts';
import { hashOf, type KeyStore, type VerifiedKey, verifyApiKey } from '../shared/storage/api-keys.ts';
import { authorizationPattern } from '../shared/contract/authorization.ts';
import { environmentVariables, metrics, requireEnvironment } from '../shared/names.ts';
import { warmUp } from '../shared/runtime/warm-up.ts';
import { database } from '../shared/storage/database.ts';
import { count } from '../shared/telemetry.ts';

/** Maximum number of keys that an instance remembers, in about 100 bytes each. */
const MAX_REMEMBERED_KEYS = 1_000;

/** Hashes of the keys that this instance has allowed most recently, the oldest first. */
const allowedKeys = new Set<string>();

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
export async function handler(
  event: APIGatewayTokenAuthorizerEvent,
  { functionVersion: version }: Pick<Context, 'functionVersion'>,
): Promise<APIGatewayAuthorizerResult> {
  const store = keyStore();
  const key = new RegExp(authorizationPattern(store.stage)).exec(event.authorizationToken)?.[1];
  const found = key === undefined ? undefined : await verifyApiKey(store, key);
  const isAllowed = found?.state === 'active';
  if (key !== undefined && isAllowed) remember(hashOf(key));
  if (!isAllowed) count(metrics.rejections, { operation: 'authorizer', version });
  // If a key that was allowed before has no record, the table is damaged, because records are never deleted. Strangers
  // cannot raise this count, because they have no key that was allowed.
  if (key !== undefined && !found && allowedKeys.has(hashOf(key))) count(metrics.lostKeys, {});

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

function remember(hash: string): void {
  allowedKeys.delete(hash);
  allowedKeys.add(hash);
  if (allowedKeys.size > MAX_REMEMBERED_KEYS) allowedKeys.delete(allowedKeys.values().next().value!);
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
