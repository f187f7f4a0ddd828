import { isDeepStrictEqual } from 'node:util';
import { errorBody, errorCatalog, type ErrorCode, errorCodes } from '../../../shared/contract/errors.ts';
import * as gateway from '../../../shared/contract/gateway-responses.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { collections } from '../../../shared/contract/operations.ts';
import { headersObject } from './headers.ts';
import { exampleOf, type Json, schemaObject } from './schema-objects.ts';

const EXAMPLE_REQUEST_ID = '407fc894-750f-42ad-9f8a-7a2266197d54';

/** The properties of requests that determine their error responses. */
type Requests = Pick<Operation, 'errors' | 'deprecation'>;

const [methodsOfFirstPath = []] = gateway.methodsByPath().values();
/** Requests that match no operation. The example of a 405 is a response for the first path. */
const otherRequests: Requests = {
  errors: { method_not_allowed: gateway.allowedMethodsMessage(methodsOfFirstPath) },
};

/** Returns the responses of an operation by status. Error responses are references. */
export function responsesOf(operation: Operation): Json {
  const errors = errorCodesOf(operation, gateway.operationCodes).map((code) => [
    errorCatalog[code].status,
    { $ref: `#/components/responses/${responseName(code, operation)}` },
  ]);
  return {
    [operation.success.status]: successResponse(operation),
    ...Object.fromEntries(errors),
  };
}

function successResponse(operation: Operation): Json {
  const { description, schema, headers, links } = operation.success;
  return {
    description,
    headers: headersObject({ ...headers, ...deprecationHeaders(operation, 'always') }, operation),
    content: schema && jsonContent(schemaObject(schema, 'received'), exampleResponse(operation)),
    links,
  };
}

/** Returns an example of a response body. Its fields have the values in the example of the request, if any. */
function exampleResponse({ request, success }: Operation): unknown {
  const { body } = request.entries;
  const example = exampleOf(success.schema);
  return body ? { ...example, ...exampleOf(body) } : example;
}

/** Returns the responses to requests that do not match an operation, by status. */
export function otherResponses(): Json {
  const codes = errorCodesOf(otherRequests, gateway.otherCodes);
  return Object.fromEntries(codes.map((code) => [errorCatalog[code].status, errorResponse(code)]));
}

/**
 * Returns the error responses of all operations by their names in the document. All of these responses have names,
 * because the client generator ogen derives conflicting types from responses without a name.
 */
export function responseComponents(): Json {
  const all = collections
    .flatMap((collection) => Object.values<Operation>(collection.operations))
    .flatMap((operation) =>
      errorCodesOf(operation, gateway.operationCodes).map((code) => [
        responseName(code, operation),
        errorResponse(code, operation),
      ]),
    );
  return Object.fromEntries(all);
}

/** Returns the name in Pascal case: the error code, after the operation's id if the response is operation-specific. */
function responseName(code: ErrorCode, operation: Operation): string {
  const isCommon = isDeepStrictEqual(errorResponse(code, operation), errorResponse(code));
  const name = isCommon ? code : `${operation.id}_${code}`;
  return name.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** Returns the requests' own error codes and those of API Gateway, in the order of the catalog. */
function errorCodesOf({ errors }: Requests, ofGateway: Set<ErrorCode>): ErrorCode[] {
  return errorCodes.filter((code) => code in errors || ofGateway.has(code));
}

function errorResponse(code: ErrorCode, requests = otherRequests): Json {
  const { description, headers, retryAfterSeconds, isOfAllFunctions } = errorCatalog[code];
  const message = requests.errors[code];
  const isOfFunction = isOfAllFunctions || message;
  const isOfGateway = gateway.operationCodes.has(code);
  // Responses that API Gateway generates have no deprecation headers.
  const presence = isOfGateway ? 'sometimes' : 'always';
  const example = errorBody(code, message === true ? undefined : message, EXAMPLE_REQUEST_ID);
  return {
    description,
    headers: headersObject(
      {
        ...headers,
        ...(retryAfterSeconds && { RetryAfter: 'always' }),
        ...(isOfFunction && deprecationHeaders(requests, presence)),
      },
      requests,
    ),
    content: jsonContent({ $ref: '#/components/schemas/Error' }, example),
  };
}

export function jsonContent(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}

function deprecationHeaders({ deprecation }: Requests, presence: 'always' | 'sometimes') {
  return deprecation && { Deprecation: presence, Sunset: presence, Successor: presence };
}
