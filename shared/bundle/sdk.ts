import { fromEnv } from '@aws-sdk/credential-provider-env';

// Replaces parts of the SDK and of Node's file system in the bundles. `shared/storage/database.ts` does not use the parts
// that are empty here, because request bodies are never files.

/** Reads credentials from the environment once, because Lambda does not change them while an instance runs. */
export function defaultProvider(): ReturnType<typeof fromEnv> {
  let credentials: ReturnType<ReturnType<typeof fromEnv>> | undefined;
  return () => (credentials ??= fromEnv()());
}

/** The SDK reads configuration files with this function and ignores errors. These files do not exist in Lambda. */
export async function readFile(): Promise<never> {
  throw new Error('Functions must not read files.');
}

export const AwsJson1_0Protocol = undefined;

export function DynamoDBJsonCodec2(): void {}
export function EndpointCache(): void {}

export function ReadStream(): void {}
export function createReadStream(): void {}
export function fstatSync(): void {}
export function lstatSync(): void {}
