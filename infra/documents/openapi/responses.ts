import { isDeepStrictEqual } from 'node:util';
import { errorBody, errorCatalogue, type ErrorCode, errorCodes } from '../../../shared/contract/errors.ts';
import * as gateway from '../../../shared/contract/gateway-responses.ts';
import { type Operation, operations } from '../../../shared/contract/operations.ts';
import { headersObject } from './headers.ts';
import { exampleOf, type Json, schemaObject } from './schema-objects.ts';

const REQUEST_ID = '407fc894-750f-42ad-9f8a-7a2266197d54';
const [methods = []] = gateway.methodsByPath().values();

type Requests = Pick<Operation, 'errors' | 'deprecation'>;
const otherRequests: Requests = { errors: { method_not_allowed: gateway.allowedMethodsMessage(methods) } };

/** Returns the responses of an operation by status. Responses in `shared` are references. */
export function responsesOf(operation: Operation, shared: Json): Json {
  const { status, description, schema, headers, links } = operation.success;
  return {
    [status]: {
      description,
      headers: headersObject({ ...headers, ...deprecationHeaders(operation, 'always') }),
      content: schema && jsonContent(schemaObject(schema, 'received'), exampleOf(schema)),
      links,
    },
    ...errorResponses(operation, gateway.operationCodes, shared),
  };
}

/** Returns the responses to requests that do not match an operation, by status. */
export function otherResponses(): Json {
  return errorResponses(otherRequests, gateway.otherCodes);
}

/** Returns the error responses that are the same for all operations, by their names in the document. */
export function sharedResponses(): Json {
  const all = Object.values<Operation>(operations);
  const isShared = (code: ErrorCode) =>
    gateway.operationCodes.has(code) &&
    all.every((operation) => isDeepStrictEqual(errorResponse(code, operation), errorResponse(code)));
  const codes = errorCodes.filter(isShared);
  return Object.fromEntries(codes.map((code) => [pascalCase(code), errorResponse(code)]));
}

function errorResponses(requests: Requests, ofGateway: Set<ErrorCode>, shared: Json = {}): Json {
  const codes = errorCodes.filter((code) => code in requests.errors || ofGateway.has(code));
  return Object.fromEntries(
    codes.map((code) => {
      const name = pascalCase(code);
      const reference = { $ref: `#/components/responses/${name}` };
      return [errorCatalogue[code].status, name in shared ? reference : errorResponse(code, requests)];
    }),
  );
}

function errorResponse(code: ErrorCode, requests = otherRequests): Json {
  const { description, headers, retryAfterSeconds, isOfAllFunctions } = errorCatalogue[code];
  const message = requests.errors[code];
  // Responses that API Gateway generates have no deprecation headers.
  const presence = gateway.operationCodes.has(code) ? 'sometimes' : 'always';
  return {
    description,
    headers: headersObject({
      ...headers,
      ...(retryAfterSeconds && { RetryAfter: 'always' }),
      ...((isOfAllFunctions || message) && deprecationHeaders(requests, presence)),
    }),
    content: jsonContent(
      { $ref: '#/components/schemas/Error' },
      errorBody(code, message === true ? undefined : message, REQUEST_ID),
    ),
  };
}

export function jsonContent(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}

function deprecationHeaders({ deprecation }: Requests, presence: 'always' | 'sometimes') {
  return deprecation && { Deprecation: presence, Sunset: presence, Successor: presence };
}

function pascalCase(code: ErrorCode): string {
  return code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
