/**
 * Returns the published OpenAPI 3.1 document as an OpenAPI 3.0 document. The published document uses only features that
 * both versions have, so only the version differs. The patch versions are 3.0.3 and 3.1.0, because some tools reject
 * later ones.
 * https://spec.openapis.org/oas/v3.0.3
 */
export function asOpenApi30(document: any): any {
  return { ...document, openapi: '3.0.3' };
}
