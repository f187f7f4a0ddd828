import { isDeepStrictEqual } from 'node:util';
import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { errorCatalogue, type ErrorCode, errorCodes } from '../../../shared/contract/errors.ts';
import { gatewayErrorCodes } from '../../../shared/contract/gateway-responses.ts';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { type Deprecation, type Operation, operations } from '../../../shared/contract/operations.ts';
import { stages } from '../../stages.ts';
import { errorExample, exampleOf, PRODUCTION_DOMAIN } from './examples.ts';
import { headerComponents, headersObject, headersOfError, headersOfSuccess } from './headers.ts';
import { componentSchemas, type Json, parameterObjects, schemaObject } from './schema-objects.ts';

const allOperations = Object.values<Operation>(operations);

/**
 * Returns the OpenAPI document as JSON, generated from the operations and their schemas. The document uses only features
 * that OpenAPI 3.0 and 3.1 share, so both versions have the same content.
 * https://spec.openapis.org/oas/v3.1.1, https://spec.openapis.org/oas/v3.0.4
 */
export function openApiJson(version: '3.0.4' | '3.1.1'): string {
  const document = {
    openapi: version,
    info: {
      title: 'Pet store',
      version: '1.0.0',
      description:
        'An API to list, add and fetch the pets that a store offers. Requests and responses are JSON (RFC 8259) in UTF-8. ' +
        'Each request requires an API key: `Authorization: Bearer <API_KEY>`.',
      contact: { name: 'The operator of the stage' },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    externalDocs: {
      description: 'Guarantees, limits and compatibility',
      url: `https://${PRODUCTION_DOMAIN}/docs/interface.md`,
    },
    servers: [
      server('Production', 'host', PRODUCTION_DOMAIN),
      server('Staging', 'staging_host', `staging.${PRODUCTION_DOMAIN}`),
    ],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'pets', description: 'Pets that the store offers.' }],
    paths: pathsObject(),
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'API key',
          description:
            'The operator issues an API key for one stage. The key starts with ' +
            `${Object.keys(stages)
              .map((stage) => `\`${keyPrefix(stage)}\``)
              .join(' or ')}. Keep the ` +
            'key secret like a password. Do not retry after a 401. The body of a 401 is the same for all causes.',
        },
      },
      schemas: componentSchemas(),
      headers: headerComponents(),
      responses: Object.fromEntries(
        errorCodes.filter(isShared).map((code) => [pascalCase(code), errorResponse(code)]),
      ),
    },
    'x-other-requests': {
      description:
        'Responses to requests that do not match an operation, with or without an API key. An unknown URL gets a 404. An ' +
        'unsupported method gets a 405.',
      responses: Object.fromEntries(
        [...gatewayErrorCodes('others'), 'method_not_allowed' as const].map((code) => [
          errorCatalogue[code].status,
          errorResponse(code),
        ]),
      ),
    },
  };
  return `${stringifyJson(document, 2)}\n`;
}

function server(stage: string, variable: string, host: string): Json {
  return {
    url: `https://{${variable}}/v1`,
    description:
      `${stage}. The operator provides the host. If the stage has no domain, the host is ` +
      '`{id}.execute-api.{region}.amazonaws.com/{stage}`.',
    variables: { [variable]: { default: host } },
  };
}

/** Returns the paths without the version, because the base URL contains the version. */
function pathsObject(): Json {
  const paths: Record<string, Json> = {};
  for (const operation of allOperations) {
    const item = (paths[operation.path.replace('/v1', '')] ??= {});
    item[operation.method.toLowerCase()] = operationObject(operation);
  }
  return paths;
}

function operationObject(operation: Operation): Json {
  const { id, summary, description, request, deprecation } = operation;
  const { path, query, headers, body } = request.entries;
  const { status, description: result, schema, links } = operation.success;
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
    ...(deprecation && {
      deprecated: true,
      'x-deprecated-reason': deprecation.advice,
      'x-sunset': deprecation.sunset.toISOString().slice(0, 10),
    }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: true, content: jsonContent(schemaObject(body), exampleOf(body)) },
    }),
    responses: {
      [status]: {
        description: result,
        headers: headersObject(headersOfSuccess(operation)),
        ...(schema && { content: jsonContent(schemaObject(schema), exampleOf(schema)) }),
        ...(links && { links }),
      },
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
  return `**Deprecated**: This operation will be removed on ${day}. ${advice}`;
}

/** @param operation operation that the request matches @default - the request does not match an operation */
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
  const common = new Set(gatewayErrorCodes('operations'));
  return errorCodes.filter((code) => code in errors || common.has(code));
}

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
