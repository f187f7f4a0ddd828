/** Hash that the CDK appends to a logical id. Logical ids of versions and deployments have two hashes. */
const HASHES = /[\dA-F]{8}([\da-f]{32})?$/;

/** Returns a logical id without its hashes: `Authorizer` for a logical id such as `Authorizer0A1B2C3D`. */
export function shortId(logicalId: string): string {
  return logicalId.replace(HASHES, '');
}
