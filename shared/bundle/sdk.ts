import { fromEnv } from '@aws-sdk/credential-provider-env';

// Replaces parts of the SDK in the bundles, most of which `shared/storage/database.ts` replaces in the client.

/** Lambda has credentials in the environment alone, the same for as long as an instance lives. */
export function defaultProvider(): ReturnType<typeof fromEnv> {
  let credentials: ReturnType<ReturnType<typeof fromEnv>> | undefined;
  return () => (credentials ??= fromEnv()());
}

export const AwsJson1_0Protocol = { setSerdeContext(): void {} };

export function DynamoDBJsonCodec2(): void {}
export function EndpointCache(): void {}
