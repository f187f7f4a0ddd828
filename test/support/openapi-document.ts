import AjvDraft04 from 'ajv-draft-04';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import type { OperationId } from '../../shared/contract/operations.ts';
import { withoutReferences } from '../../infra/documents/openapi/schema-objects.ts';

/** Validators for the published documents. OpenAPI 3.0 uses JSON Schema draft 05, which has draft 04's keywords. */
const publishedDocuments = {
  'openapi.json': new Ajv2020(),
  'openapi-3.0.json': new AjvDraft04.default(),
};
for (const ajv of Object.values(publishedDocuments))
  addFormats.default(ajv).addVocabulary(['x-extensible-enum']);

/** An OpenAPI document in which the target replaces each `$ref`. */
export interface OpenApiDocument {
  /** Returns the reasons why `value` violates `schema`. Messages refer to the value by `name`. */
  complaints: (schema: object, value: unknown, name: string) => string[];
  operations: DocumentedOperation[];
  operation: (id: OperationId) => DocumentedOperation;
  /** Responses to requests that match no operation, by status. */
  others: Record<string, DocumentedResponse>;
}

export interface DocumentedOperation {
  id: string;
  method: string;
  /** Matches the path below the base URL. The named groups match the path parameters. */
  path: RegExp;
  parameters: { name: string; in: 'path' | 'query' | 'header'; schema: object; example: any }[];
  /** Schema of the request body, or undefined if there is none. */
  body: object | undefined;
  /** Request with the documented example values. */
  example: ExampleRequest;
  /** Responses by status. */
  responses: Record<string, DocumentedResponse>;
}

/** Request with the documented example of the body and of each parameter that has an example. */
export interface ExampleRequest {
  method: string;
  /** Path and query. Unlike the paths in the document, the path begins with `/v1`. */
  target: string;
  pathParameters: Record<string, string>;
  headers: Record<string, string>;
  body?: string;
}

export type Examples = Record<OperationId, ExampleRequest>;

export interface DocumentedResponse {
  headers: Record<string, { required?: boolean; schema: object; example: string }>;
  mediaTypes: string[];
  /** Schema of the body, or undefined if there is no body. Unlike in the document, additional fields are forbidden. */
  schema: object | undefined;
  example: unknown;
}

/** Reads a published document. Integers that a double cannot represent exactly are rounded. */
export function openApiDocumentOf(file: keyof typeof publishedDocuments): OpenApiDocument {
  const resolved: any = withoutReferences(JSON.parse(readFileSync(file, 'utf8')));
  const ajv = publishedDocuments[file];
  const operations = Object.entries<object>(resolved.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]*)')}/?$`),
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content['application/json'].schema,
      example: exampleOf(path, method, operation),
      responses: responsesOf(operation.responses),
    })),
  );
  return {
    complaints: (schema, value, name) =>
      ajv.validate(schema, value) ? [] : [ajv.errorsText(ajv.errors, { dataVar: name })],
    operations,
    operation: (id) => operations.find((one) => one.id === id)!,
    others: responsesOf(resolved['x-other-requests'].responses),
  };
}

function exampleOf(path: string, method: string, { parameters = [], requestBody }: any): ExampleRequest {
  const withExample = parameters.filter(({ example }: any) => example !== undefined);
  const valuesIn = (location: string): Record<string, string> => {
    const those = withExample.filter((parameter: any) => parameter.in === location);
    return Object.fromEntries(those.map(({ name, example }: any) => [name, `${example}`]));
  };
  const pathParameters = valuesIn('path');
  const query = new URLSearchParams(valuesIn('query')).toString();
  return {
    method: method.toUpperCase(),
    target: `/v1${path.replaceAll(/\{(\w+)\}/g, (_, name) => pathParameters[name]!)}${query && `?${query}`}`,
    pathParameters,
    headers: valuesIn('header'),
    ...(requestBody && { body: JSON.stringify(requestBody.content['application/json'].example) }),
  };
}

function responsesOf(responses: Record<string, any>): Record<string, DocumentedResponse> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { headers, content }]) => {
      const { schema, example } = content?.['application/json'] ?? {};
      const mediaTypes = Object.keys(content ?? {});
      return [status, { headers, mediaTypes, schema: schema && closed(schema), example }];
    }),
  );
}

function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_name, value: any) =>
    value?.type === 'object' ? { ...value, additionalProperties: false } : value,
  ) as object;
}
