// Replaces `@aws-sdk/endpoint-cache` in the bundles (8 kB): the client constructs one, and uses it only if endpoint discovery
// is enabled, which it is not by default for DynamoDB.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-endpoint-discovery.html

export function EndpointCache(): void {}
