// Replaces `@aws-sdk/endpoint-cache` in the bundles (8 kB): the client constructs one, but does not use it, because endpoint
// discovery is off (`database.ts`).

export function EndpointCache(): void {}
