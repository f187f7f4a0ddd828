import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type * as v from 'valibot';
import { isUnavailable } from '../storage/database.ts';
import { metrics } from '../names.ts';
import {
  ApiError,
  type CommonErrorCode,
  type ErrorCode,
  errorBody,
  errorCatalog,
  READ_ONLY_MESSAGE,
} from '../contract/errors.ts';
import { stringifyJson } from '../contract/json.ts';
import { commonHeaders, type Operation } from '../contract/operation.ts';
import { type ParsedRequest, parseRequest, rootUrl } from './request.ts';
import { count, loggable, logger, logNoRequest } from '../telemetry.ts';
import { warmUp } from './warm-up.ts';

/** Time between a slow function's 503 and the Lambda timeout, which would stop the function without a response. */
const TIMEOUT_MARGIN_MILLISECONDS = 500;

/** The validated parts of a request, and what else implementations need. */
type ValidRequest<O extends Operation> = ParsedRequest<O> & {
  /** Base URL of the service without `/v1`. */
  rootUrl: string;
  /**
   * Id of the client's API key before its rotations, so that the value stays the same for a client that rotates its key.
   * Undefined if the route has no authorizer.
   */
  firstKeyId: string | undefined;
  /** Signal for database calls. It is aborted when the function runs out of time and responds with a 503. */
  signal: AbortSignal;
  /**
   * Ends the request with an error response.
   *
   * @param code code that the operation declares in its `errors`, or a code that all functions can return
   * @param message error message for the client @default - the message in the catalog
   */
  fail: (code: O['errors'][number] | CommonErrorCode, message?: string) => never;
};

/** Result of a successful operation, with a body if the operation has a response schema. */
type Success<O extends Operation> = { headers?: Record<string, string> } & (O['success'] extends {
  schema: infer Schema extends v.GenericSchema;
}
  ? { body: v.InferOutput<Schema> }
  : { body?: never });

/** Implementation of an operation. Errors that it throws become error responses. */
export type Implementation<O extends Operation> = (request: ValidRequest<O>) => Promise<Success<O>>;

export type Handler = (
  event: APIGatewayProxyEvent,
  context: Context,
) => Promise<APIGatewayProxyResult | undefined>;
type Middleware = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/**
 * Returns the Lambda handler of an operation. The handler converts all errors to error responses. Operations that write
 * reject API keys that can only read. For an event that is not a request of API Gateway, such as a test event, the
 * handler only writes a log line.
 *
 * @example
 * export const handler = endpoint(books.operations.get, async ({ path: { bookId }, signal, fail }) => {
 *   return { body: (await get(books, bookId, signal)) ?? fail('not_found', notFoundMessage(books, bookId)) };
 * });
 */
export function endpoint<O extends Operation>(operation: O, run: Implementation<O>): Handler {
  // middy calls onError in reverse order, so `deprecationNotice` adds its headers to the finished error response.
  const handle = throwingEndpoint(operation, run)
    .use(deprecationNotice(operation))
    .use(errorBodies(operation));
  return async (event, context) =>
    typeof event?.requestContext?.path === 'string' ? handle(event, context) : logNoRequest();
}

function throwingEndpoint<O extends Operation>(operation: O, run: Implementation<O>) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>({
    timeoutEarlyInMillis: TIMEOUT_MARGIN_MILLISECONDS,
    timeoutEarlyResponse: () => {
      throw new ApiError('service_unavailable', 'The service could not respond in time.');
    },
  }).handler(async (event: APIGatewayProxyEvent, _context: Context, { signal }) => {
    if (operation.method !== 'GET' && !contextValue(event, 'canWrite'))
      throw new ApiError('forbidden', READ_ONLY_MESSAGE);
    const { body, headers } = await run({
      ...parseRequest(operation, event),
      rootUrl: rootUrl(operation, event),
      firstKeyId: contextValue(event, 'firstKeyId'),
      signal,
      fail,
    });
    return render(operation.success.status, body, headers);
  });
}

/**
 * Primes the function of an operation by processing a sample request during init. The sample request writes no log
 * lines or metrics, and its errors are ignored. Outside of Lambda and its emulator, nothing happens.
 *
 * @example await prime(books.operations.list, {}, listBooks);
 * @param sample event fields of a valid request
 * @param run implementation of the operation, or a substitute that only reads
 */
export function prime<O extends Operation>(
  operation: O,
  sample: Partial<APIGatewayProxyEvent>,
  run: Implementation<O>,
): Promise<void> {
  const requestContext = { path: '/', domainName: 'localhost', authorizer: { canWrite: 'true' } };
  const event = { multiValueHeaders: {}, requestContext, ...sample } as APIGatewayProxyEvent;
  const context = { getRemainingTimeInMillis: () => 10_000 } as Context;
  const respond = throwingEndpoint(operation, run);
  return warmUp(() => respond(event, context));
}

function fail(code: ErrorCode, message?: string): never {
  throw new ApiError(code, message);
}

/** Returns the middleware that converts errors to error responses, counts them, and logs those with a 5xx status. */
function errorBodies({ id: operation }: Operation): Middleware {
  return {
    onError(request) {
      const { event, context, error } = request;
      const { requestId } = event.requestContext;
      const { code, message } = toApiError(error);
      const body = errorBody(code, message, requestId);
      if (body.status >= 500) {
        logger().addContext(context);
        const details = { code, operation, requestId, keyId: contextValue(event, 'keyId') ?? 'unknown' };
        logger().error(message, { error: loggable(error), ...details });
        count(metrics.versionErrors, { operation, version: context.functionVersion });
      }
      count(metrics.errorResponses, { code });
      const { retryAfterSeconds: seconds } = errorCatalog[code];
      request.response = render(body.status, body, seconds ? { 'Retry-After': seconds.toString() } : {});
    },
  };
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(isUnavailable(error) ? 'service_unavailable' : 'internal_error');
}

/** Counts requests for a deprecated operation and adds deprecation headers to the responses. */
function deprecationNotice(definition: Operation): Middleware {
  const { id: operation, deprecation } = definition;
  const announce: NonNullable<Middleware['after']> = ({ event, response }) => {
    if (!deprecation || !response) return;
    count(metrics.deprecatedCalls, { operation });
    response.headers = {
      ...response.headers,
      Deprecation: `@${deprecation.since.getTime() / 1000}`,
      Sunset: deprecation.sunset.toUTCString(),
      Link: `<${rootUrl(definition, event)}${deprecation.successor}>; rel="successor-version"`,
    };
  };
  return { after: announce, onError: announce };
}

/** Returns a value of the authorizer's context. */
function contextValue({ requestContext }: APIGatewayProxyEvent, name: string): string | undefined {
  return requestContext.authorizer?.[name] as string | undefined;
}

function render(statusCode: number, body: unknown, headers?: Record<string, string>): APIGatewayProxyResult {
  return {
    statusCode,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json; charset=utf-8' }),
      ...commonHeaders,
      ...headers,
    },
    body: body === undefined ? '' : stringifyJson(body),
  };
}
