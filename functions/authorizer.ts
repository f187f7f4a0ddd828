import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda';
import { generateApiKey, type KeyStore, verifyApiKey } from '../shared/storage/api-keys.ts';
import { authorizationPattern } from '../shared/contract/authorization.ts';
import { environmentVariables, requireEnvironment } from '../shared/names.ts';
import { warmUp } from '../shared/runtime/warm-up.ts';

/**
 * Allows a request whose key works. API Gateway caches the policy by key for all routes, so it is for the whole stage.
 * It is a Deny otherwise, as a throw would count as an error of the function; it throws if the table cannot be read.
 */
export async function handler(event: APIGatewayTokenAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const store = keyStore();
  const key = new RegExp(authorizationPattern(store.stage)).exec(event.authorizationToken)?.[1];
  const record = key === undefined ? undefined : await verifyApiKey(store, key);

  return {
    principalId: record?.keyId ?? 'nobody',
    policyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: record ? 'Allow' : 'Deny',
          Action: 'execute-api:Invoke',
          Resource: wholeStage(event.methodArn),
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
  };
}

/** `arn:aws:execute-api:{region}:{account}:{api}/{stage}/{method}/{path}` with method and path open. */
function wholeStage(methodArn: string): string {
  const [api, stage] = methodArn.split('/');
  return `${api}/${stage}/*/*`;
}

await warmUp(async () => {
  const store = keyStore();
  await verifyApiKey(store, generateApiKey(store.stage));
});
