import { keyPrefix } from '../../shared/api-keys.ts';
import { stringifyJson } from '../../shared/contract/json.ts';
import type { Operation, Collection } from '../../shared/contract/operation.ts';
import { collections } from '../../shared/contract/operations.ts';
import { pascalCase, productDescription, productName } from '../../shared/names.ts';
import { UsageError } from '../command.ts';
import type { StageSettings } from '../settings.ts';
import { stages } from '../stages.ts';
import { descriptions } from './descriptions.ts';
import { headerComponents, PRODUCTION_DOMAIN } from './headers.ts';
import { jsonContent, responseComponents, responsesOf } from './responses.ts';
import { componentSchemas, exampleOf, type Json, parameterObjects, schemaObject } from './schema-objects.ts';

/**
 * Returns the OpenAPI document as JSON, generated from the operations and their schemas. The document uses only features
 * that OpenAPI 3.1 and 3.0 share, because some generators read only OpenAPI 3.0. `asOpenApi30` converts the document.
 * https://spec.openapis.org/oas/v3.1.0
 */
export function openApiJson(): string {
  const prefixes = Object.keys(stages).map((stage) => `\`${keyPrefix(stage)}\``);
  const document = {
    openapi: '3.1.0',
    info: {
      title: productName,
      version: '1.0.0',
      description:
        `${productDescription} ` +
        'Requests and responses are JSON (RFC 8259) in UTF-8. Each request requires an API key: `Authorization: Bearer <API_KEY>`. ' +
        'For other URLs, the service returns a 404, for other methods a 405, and for other query parameters a 400, with an Error body. The operator ' +
        'provides the host of the base URL. For a stage without a domain, it is `{id}.execute-api.{region}.amazonaws.com/{stage}`.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    servers: serverObjects(stages),
    security: [{ bearerAuth: [] }],
    tags: collections.map(({ plural: name, description }) => ({ name, description })),
    paths: pathsObject(),
    components: {
      securitySchemes: {
        bearerAuth: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'API key',
          description:
            `The operator issues an API key for one stage. The key starts with ${prefixes.join(' or ')}. Operations ` +
            'that write reject a key that can only read with a 403. Keep the key secret like a password.',
        },
      },
      schemas: componentSchemas(),
      headers: headerComponents,
      responses: responseComponents(),
    },
  };
  return `${stringifyJson(document, 2)}\n`;
}

/** Returns the stages' servers. Stages that retain data come first, because tools use the first server by default. */
export function serverObjects(all: Record<string, StageSettings>): Json[] {
  const inOrder = Object.entries(all).toSorted(
    ([, one], [, other]) => Number(other.retainData) - Number(one.retainData),
  );
  return inOrder.map(([name, { publicUrl, domain }], index) => {
    const description = pascalCase(name); // API clients name environments after it.
    const rootUrl = publicUrl ?? (domain && `https://${domain.name}`);
    if (rootUrl !== undefined) return { url: `${rootUrl}/v1`, description };
    const variable = index === 0 ? 'host' : `${name}_host`;
    const host = index === 0 ? PRODUCTION_DOMAIN : `${name}.${PRODUCTION_DOMAIN}`;
    return {
      url: `https://{${variable}}/v1`,
      description,
      variables: {
        // The variable has no description, because in OpenAPI 3.1, swagger-parser 10 and swagger-cli 4 reject one here.
        [variable]: { default: host },
      },
    };
  });
}

/** Returns the operations by path and method. The paths omit the version, because the base URL contains it. */
function pathsObject(): Json {
  const paths: Record<string, Json> = {};
  for (const collection of collections) {
    for (const [kind, operation] of Object.entries<Operation>(collection.operations)) {
      const path = operation.path.replace('/v1', '');
      paths[path] ??= {};
      paths[path][operation.method.toLowerCase()] = operationObject(kind, operation, collection);
    }
  }
  return paths;
}

function operationObject(kind: string, operation: Operation, collection: Collection): Json {
  const { id, summary, request, stability, deprecation } = operation;
  const description = operation.description ?? descriptions[kind]?.(collection);
  if (description === undefined)
    throw new UsageError(
      `The operation ${id} has no description. Set it, or add the kind ${kind} to descriptions.ts.`,
    );
  const { body } = request;
  return {
    operationId: id,
    summary,
    description: descriptionOf(operation, description),
    tags: [collection.plural],
    'x-stability': stability,
    deprecated: deprecation && true,
    'x-sunset': deprecation?.sunset.toISOString().slice(0, 10),
    parameters: parameterObjects(request),
    requestBody: body && { required: true, content: jsonContent(schemaObject(body), exampleOf(body)) },
    responses: responsesOf(operation, collection),
  };
}

function descriptionOf({ stability, deprecation }: Operation, description: string): string {
  const notices: string[] = [];
  if (stability) {
    notices.push(`**${pascalCase(stability)}**: This operation can change or be removed without notice.`);
  }
  if (deprecation) {
    const day = deprecation.sunset.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
    notices.push(`**Deprecated**: This operation will be removed on ${day}. ${deprecation.advice}`);
  }
  return [...notices, description].join('\n\n');
}
