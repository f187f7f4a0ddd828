// Replaces parts of the SDK in the bundles. What the client is configured not to use (`shared/storage/database.ts`) is empty.

/** Lambda has credentials in the environment alone. */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';

export function AwsJson1_0Protocol(): void {}
export function DynamoDBJsonCodec2(): void {}
export function EndpointCache(): void {}
