import { isDeepStrictEqual } from 'node:util';
import {
  connectionErrorCodes,
  errorCatalogue,
  type ErrorCode,
  errorCodes,
} from '../../../shared/contract/errors.ts';
import { gatewayErrorCodes } from '../../../shared/contract/gateway-responses.ts';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { type Deprecation, type Operation, operations } from '../../../shared/contract/operations.ts';
import { errorExample, exampleOf } from './examples.ts';
import { headerComponents, headersObject, headersOfError, headersOfSuccess } from './headers.ts';
import { introduction } from './introduction.ts';
import { componentSchemas, type Json, parameterObjects, schemaObject } from './schema-objects.ts';

const allOperations = Object.values<Operation>(operations);

/** The text of `openapi.json`. */
export function openApiJson(): string {
  return `${stringifyJson(openApiDocument(), 2)}\n`;
}

/**
 * The API as an OpenAPI document, made from the operations and their schemas alone. Bounds of int64 are bigints.
 * https://spec.openapis.org/oas/v3.1.1
 */
function openApiDocument(): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Pet store',
      version: '1.0.0',
      summary: 'Animals offered in a store',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      server('Production', 'base_url', 'https://petstore.example.com/v1'),
      server('Staging', 'staging_base_url', 'https://staging.petstore.example.com/v1'),
    ],
    security: [{ apiKey: [] }],
    tags: [{ name: 'pets', description: 'Animals offered in the store.' }],
    paths: pathsObject(),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'API key',
          description: 'An API key of the stage: `Authorization: Bearer <API_KEY>`.',
        },
      },
      schemas: componentSchemas(),
      headers: headerComponents(),
      responses: Object.fromEntries(
        errorCodes.filter(isShared).map((code) => [pascalCase(code), errorResponse(code)]),
      ),
    },
    'x-other-requests': {
      description: 'What any other address and method is told, with or without a key.',
      responses: Object.fromEntries(
        [...gatewayErrorCodes('others'), ...connectionErrorCodes, 'method_not_allowed' as const].map(
          (code) => [errorCatalogue[code].status, errorResponse(code)],
        ),
      ),
    },
  };
}

function server(stage: string, variable: string, example: string): Json {
  return {
    url: `{${variable}}`,
    description: stage,
    variables: {
      [variable]: {
        default: example,
        description: `Base address of ${stage.toLowerCase()}, with the version, as its operator gives it.`,
      },
    },
  };
}

/** Paths below the base address, which ends with the version. */
function pathsObject(): Json {
  const paths = Object.groupBy(allOperations, ({ path }) => path.replace('/v1', ''));
  return Object.fromEntries(
    Object.entries(paths).map(([path, group = []]) => [
      path,
      Object.fromEntries(
        group.map((operation) => [operation.method.toLowerCase(), operationObject(operation)]),
      ),
    ]),
  );
}

function operationObject(operation: Operation): Json {
  const { id, summary, description, request, deprecation } = operation;
  const { path, query, headers, body } = request.entries;
  const parameters = [
    ...parameterObjects('path', path),
    ...parameterObjects('query', query),
    ...parameterObjects('header', headers),
  ];
  return {
    operationId: id,
    summary,
    description: deprecation ? `${deprecationNotice(deprecation)}\n\n${description}` : description,
    tags: ['pets'],
    ...(deprecation && { deprecated: true, 'x-sunset': deprecation.sunset.toISOString().slice(0, 10) }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: jsonContent(schemaObject(body), exampleOf(body)) },
    }),
    responses: {
      [operation.success.status]: successResponse(operation),
      ...Object.fromEntries(
        errorCodesOf(operation).map((code) => [
          errorCatalogue[code].status,
          isShared(code)
            ? { $ref: `#/components/responses/${pascalCase(code)}` }
            : errorResponse(code, operation),
        ]),
      ),
    },
  };
}

function deprecationNotice({ sunset, advice }: Deprecation): string {
  const day = sunset.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
  return `**Deprecated**: goes away on ${day}. ${advice}`;
}

function successResponse(operation: Operation): Json {
  const { description, schema } = operation.success;
  return {
    description,
    headers: headersObject(headersOfSuccess(operation)),
    ...(schema && { content: jsonContent(schemaObject(schema), exampleOf(schema)) }),
  };
}

/** The response with an error to a request of this operation, or of none. */
function errorResponse(code: ErrorCode, operation?: Operation): Json {
  return {
    description: errorCatalogue[code].description,
    headers: headersObject(headersOfError(code, operation)),
    content: jsonContent({ $ref: '#/components/schemas/Error' }, errorExample(code, operation)),
  };
}

function jsonContent(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}

function errorCodesOf({ errors }: Operation): ErrorCode[] {
  const possible = new Set<ErrorCode>([
    ...gatewayErrorCodes('operations'),
    ...connectionErrorCodes,
    ...(Object.keys(errors) as ErrorCode[]),
  ]);
  return errorCodes.filter((code) => possible.has(code));
}

/** Whether all operations have the same response with this error. */
function isShared(code: ErrorCode): boolean {
  return allOperations.every(
    (operation) =>
      errorCodesOf(operation).includes(code) &&
      isDeepStrictEqual(errorResponse(code, operation), errorResponse(code)),
  );
}

function pascalCase(code: ErrorCode): string {
  return code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
