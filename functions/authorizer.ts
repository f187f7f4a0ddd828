import type { APIGatewayAuthorizerResult, APIGatewayTokenAuthorizerEvent } from 'aws-lambda';
import { generateApiKey, type KeyStore, verifyApiKey } from '../shared/storage/api-keys.ts';
import { authorizationPattern } from '../shared/contract/authorization.ts';
import { environmentVariables, requireEnvironment } from '../shared/names.ts';
import { warmUp } from '../shared/runtime/warm-up.ts';

/**
 * Lets a request in when its key works. API Gateway keeps the decision by key and replays it on every route, so
 * it is made for the whole stage. A refusal is a Deny: a throw would count as an error of the function.
 * When the table cannot be read this throws, and nobody is let in.
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
  // Nobody has this key.
  await verifyApiKey(store, generateApiKey(store.stage));
});
