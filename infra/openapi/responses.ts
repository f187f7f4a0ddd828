import { errorBody, errorCatalog, type ErrorCode, errorCodes } from '../../shared/contract/errors.ts';
import { operationCodes } from '../../shared/contract/gateway-errors.ts';
import type { Collection, Operation } from '../../shared/contract/operation.ts';
import { collections, operations } from '../../shared/contract/operations.ts';
import { pascalCase } from '../../shared/names.ts';
import { errorDescriptions, exampleMessages } from './descriptions.ts';
import { errorHeaders, successHeaders } from './headers.ts';
import { exampleOf, type Json, schemaObject } from './schema-objects.ts';

const EXAMPLE_REQUEST_ID = '407fc894-750f-42ad-9f8a-7a2266197d54';

/** Returns the responses of an operation by status. Error responses are references. */
export function responsesOf(operation: Operation, collection: Collection): Json {
  const { success } = operation;
  const errors = errorCodesOf(operation).map((code) => [
    errorCatalog[code].status,
    { $ref: `#/components/responses/${pascalCase(code)}` },
  ]);
  return {
    [success.status]: {
      description: success.description,
      headers: successHeaders(operation, collection),
      content:
        success.schema && jsonContent(schemaObject(success.schema, 'received'), exampleResponse(operation)),
    },
    ...Object.fromEntries(errors),
  };
}

/**
 * Returns an example of a response body. Fields that the request's body also contains have the values of its example, so
 * that the two examples match.
 */
function exampleResponse({ request, success }: Operation): unknown {
  const { body } = request;
  const example = exampleOf(success.schema);
  return body ? { ...example, ...exampleOf(body) } : example;
}

/** Returns the error responses of all operations by their names in the document, one for each error code. */
export function responseComponents(): Json {
  const all = Object.values<Operation>(operations);
  const codes = errorCodes.filter((code) => all.some((operation) => errorCodesOf(operation).includes(code)));
  return Object.fromEntries(codes.map((code) => [pascalCase(code), errorResponse(code)]));
}

/** Returns the error codes of the operation, of all functions and of API Gateway, in the order of the catalog. */
function errorCodesOf({ errors }: Operation): ErrorCode[] {
  return errorCodes.filter(
    (code) => errors.includes(code) || errorCatalog[code].isOfAllFunctions || operationCodes.has(code),
  );
}

function errorResponse(code: ErrorCode): Json {
  // Operations share the response, so its example is a message of the first collection.
  const message = exampleMessages[code]?.(collections[0]);
  return {
    description: errorDescriptions[code],
    headers: errorHeaders(errorCatalog[code]),
    content: jsonContent(
      { $ref: '#/components/schemas/Error' },
      errorBody(code, message, EXAMPLE_REQUEST_ID),
    ),
  };
}

export function jsonContent(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}
