import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda';
import { type ApiKeyRecord, generateApiKey, hashOf, keyInHeader, stateOf } from '../shared/api-keys.ts';
import { environmentVariables, requireEnvironment } from '../shared/names.ts';
import { warmUp } from '../shared/runtime/warm-up.ts';
import { readItem } from '../shared/storage/database.ts';
import { logNoRequest } from '../shared/telemetry.ts';

/**
 * Returns a policy that allows access if the API key is active, and otherwise denies access. The function does not
 * throw for invalid keys, because CloudWatch would count exceptions as function errors. API Gateway caches the policy
 * for all requests with the same `Authorization` header, so the policy covers all routes of the stage.
 *
 * If the key has a record, the context contains the key's id, so that the access log shows whose key it is. For an
 * expired or revoked key, the context also contains the reason for the denial. For an active key, it also contains the
 * id of the first key of its rotations, to which idempotency keys belong, and whether the key can write.
 *
 * @returns undefined if the event is not a request, for example a test event
 * @throws Error if the API keys table cannot be read.
 */
export async function handler(
  event: APIGatewayTokenAuthorizerEvent,
): Promise<APIGatewayAuthorizerResult | undefined> {
  if (event?.type !== 'TOKEN') return logNoRequest();
  const stage = requireEnvironment(environmentVariables.stage);
  const key = keyInHeader(event.authorizationToken, stage);
  const record = key === undefined ? undefined : await findRecord(key);
  // The state is determined after the read, because a read with retries can take seconds, in which the key can expire.
  const state = record && stateOf(record, new Date());

  return {
    principalId: record?.keyId ?? 'nobody',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: state === 'active' ? 'Allow' : 'Deny',
          Action: 'execute-api:Invoke',
          // The ARN is arn:aws:execute-api:{region}:{account}:{api}/{stage}/{method}/{path}.
          Resource: event.methodArn.replace(/(?<=[^/]+\/[^/]+\/).+/s, '*/*'),
        },
      ],
    },
    ...(record && {
      context: state === 'active' ? contextOf(record) : { keyId: record.keyId, reason: state },
    }),
  };
}

/** Returns the context of an active key. API Gateway passes all values to the functions as strings. */
function contextOf({ keyId, firstKeyId = keyId, readOnly }: ApiKeyRecord): Record<string, string> {
  return { keyId, firstKeyId, ...(!readOnly && { canWrite: 'true' }) };
}

function findRecord(key: string): Promise<ApiKeyRecord | undefined> {
  return readItem<ApiKeyRecord>(requireEnvironment(environmentVariables.apiKeysTable), { hash: hashOf(key) });
}

await warmUp(() => findRecord(generateApiKey(requireEnvironment(environmentVariables.stage))));
