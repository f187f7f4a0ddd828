import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { readFileSync } from 'node:fs';
import type { OperationId } from '../../shared/contract/operations.ts';

const ajv = addFormats.default(new Ajv2020()).addVocabulary(['x-extensible-enum']);

export type OpenApiDocument = ReturnType<typeof openApiDocument>;

export interface DocumentedOperation {
  id: string;
  method: string;
  /** Matches the path below the base URL. The named groups match the path parameters. */
  path: RegExp;
  parameters: { name: string; in: 'path' | 'query' | 'header'; schema: object; example: any }[];
  /** Schema of the request body, or undefined if there is none. */
  body: object | undefined;
  example: ExampleRequest;
  /**
   * Responses by status. Errors of a deprecated operation can also have the deprecation headers of its success
   * response.
   */
  responses: Record<string, DocumentedResponse>;
}

/** Request that contains the documented example of the body and of each parameter that has an example. */
export interface ExampleRequest {
  method: string;
  /** Path and query. The path begins with `/v1`, unlike the paths in the document. */
  target: string;
  pathParameters: Record<string, string>;
  headers: Record<string, string>;
  body?: string;
}

export type Examples = Record<OperationId, ExampleRequest>;

export interface DocumentedResponse {
  headers: Record<string, { required?: boolean; schema: { type: string }; example: string | number }>;
  mediaTypes: string[];
  /** Schema of the body, or undefined if there is no body. Unlike in the document, additional fields are forbidden. */
  schema: object | undefined;
  example: unknown;
}

/** Reads openapi.json and replaces each `$ref` with its target. Rounds integers that a double cannot represent. */
export function openApiDocument() {
  const resolved: any = withoutReferences(JSON.parse(readFileSync('openapi.json', 'utf8')));
  const operations = Object.entries<object>(resolved.paths).flatMap(([path, item]) =>
    Object.entries<any>(item).map(([method, operation]): DocumentedOperation => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]*)')}/?$`),
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content['application/json'].schema,
      example: exampleOf(path, method, operation),
      responses: responsesOf(operation),
    })),
  );
  return {
    /** Returns the reasons why `value` violates `schema`. Each message refers to the value as `name`. */
    complaints: (schema: object, value: unknown, name: string): string[] =>
      ajv.validate(schema, value) ? [] : [ajv.errorsText(ajv.errors, { dataVar: name })],
    operations,
    operation: (id: OperationId) => operations.find((one) => one.id === id)!,
  };
}

function exampleOf(path: string, method: string, { parameters = [], requestBody }: any): ExampleRequest {
  const valuesIn = (location: string): Record<string, string> => {
    const those = parameters.filter(
      ({ in: place, example }: any) => place === location && example !== undefined,
    );
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

function responsesOf({ responses, deprecated }: any): Record<string, DocumentedResponse> {
  const all = Object.entries<any>(responses);
  const ofSuccess = Object.entries<any>(deprecated ? all[0]![1].headers : {});
  const optional = Object.fromEntries(
    ofSuccess.map(([name, header]) => [name, { ...header, required: false }]),
  );
  return Object.fromEntries(
    all.map(([status, { headers, content }]) => {
      const { schema, example } = content?.['application/json'] ?? {};
      const mediaTypes = Object.keys(content ?? {});
      return [
        status,
        { headers: { ...optional, ...headers }, mediaTypes, schema: schema && closed(schema), example },
      ];
    }),
  );
}

function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_name, value: any) =>
    value?.type === 'object' ? { ...value, additionalProperties: false } : value,
  ) as object;
}

/**
 * Returns a copy of the document in which each reference is replaced with its target. Of the components, the copy
 * contains only the security schemes.
 *
 * @throws TypeError if a reference has no target
 */
function withoutReferences(document: any): any {
  const { securitySchemes } = document.components;
  return resolve({ ...document, components: { securitySchemes } });

  function resolve(part: any): any {
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(resolve);
    const target = part.$ref ? targetOf(part.$ref) : part;
    return Object.fromEntries(Object.entries(target).map(([name, member]) => [name, resolve(member)]));
  }

  /** Returns the part of the document to which a reference such as `#/components/schemas/Book` refers. */
  function targetOf(reference: string): any {
    const [, ...keys] = reference.split('/');
    return keys.reduce((parent, key) => parent[key], document);
  }
}
