/**
 * Returns the published OpenAPI 3.1 document as an OpenAPI 3.0 document. The published document uses only features that
 * both versions have, so only the version differs. Some tools reject later patch versions than 3.0.3 and 3.1.0.
 * https://spec.openapis.org/oas/v3.0.3
 */
export function asOpenApi30(document: any): any {
  return { ...document, openapi: '3.0.3' };
}
