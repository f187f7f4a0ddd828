import { isDeepStrictEqual } from 'node:util';
import { errorBody, errorCatalogue, type ErrorCode, errorCodes } from '../../../shared/contract/errors.ts';
import * as gateway from '../../../shared/contract/gateway-responses.ts';
import { type Operation, operations } from '../../../shared/contract/operations.ts';
import { headersObject } from './headers.ts';
import { exampleOf, type Json, schemaObject } from './schema-objects.ts';

const REQUEST_ID = '407fc894-750f-42ad-9f8a-7a2266197d54';
const everywhere = { RequestId: 'always', CacheControl: 'always' } as const;
const [methods = []] = gateway.methodsByPath().values();
const gatewayCodes = gateway.gatewayErrorCodes('operations');

/** Returns the responses of an operation by status. Responses that all operations share are references. */
export function responsesOf(operation: Operation): Json {
  const { status, description, schema, headers, links } = operation.success;
  const errors = errorCodesOf(operation).map((code) => [
    errorCatalogue[code].status,
    isShared(code) ? { $ref: `#/components/responses/${pascalCase(code)}` } : errorResponse(code, operation),
  ]);
  return {
    [status]: {
      description,
      headers: headersObject({ ...everywhere, ...headers, ...deprecationHeaders(operation, 'always') }),
      ...(schema && { content: jsonContent(schemaObject(schema), exampleOf(schema)) }),
      ...(links && { links }),
    },
    ...Object.fromEntries(errors),
  };
}

/** Returns the responses that all operations share. */
export function responseComponents(): Json {
  return Object.fromEntries(
    errorCodes.filter(isShared).map((code) => [pascalCase(code), errorResponse(code)]),
  );
}

/** Returns the responses to requests that do not match an operation, by status. */
export function otherResponses(): Json {
  const codes = [...gateway.gatewayErrorCodes('others'), 'method_not_allowed' as const];
  return Object.fromEntries(codes.map((code) => [errorCatalogue[code].status, errorResponse(code)]));
}

/** @param operation operation that the request matches @default - the request does not match an operation */
function errorResponse(code: ErrorCode, operation?: Operation): Json {
  const { description, headers, retryAfterSeconds, isOfAllFunctions } = errorCatalogue[code];
  const isOfFunction = operation && (isOfAllFunctions || code in operation.errors);
  const message =
    code === 'method_not_allowed' ? gateway.allowedMethodsMessage(methods) : operation?.errors[code];
  return {
    description,
    headers: headersObject({
      ...everywhere,
      ...headers,
      ...(retryAfterSeconds && { RetryAfter: 'always' }),
      // Responses that API Gateway generates have no deprecation headers.
      ...(isOfFunction &&
        deprecationHeaders(operation, gatewayCodes.includes(code) ? 'sometimes' : 'always')),
    }),
    content: jsonContent(
      { $ref: '#/components/schemas/Error' },
      errorBody(code, message === true ? undefined : message, REQUEST_ID),
    ),
  };
}

function deprecationHeaders({ deprecation }: Operation, presence: 'always' | 'sometimes') {
  return deprecation && { Deprecation: presence, Sunset: presence, Successor: presence };
}

export function jsonContent(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}

function errorCodesOf({ errors }: Operation): ErrorCode[] {
  return errorCodes.filter((code) => code in errors || gatewayCodes.includes(code));
}

function isShared(code: ErrorCode): boolean {
  return Object.values<Operation>(operations).every(
    (operation) =>
      errorCodesOf(operation).includes(code) &&
      isDeepStrictEqual(errorResponse(code, operation), errorResponse(code)),
  );
}

function pascalCase(code: ErrorCode): string {
  return code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}
