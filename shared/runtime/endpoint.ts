import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import type * as v from 'valibot';
import { isDatabaseUnavailable } from '../storage/database.ts';
import { metrics } from '../names.ts';
import { ApiError, errorBody, errorCatalogue } from '../contract/errors.ts';
import { stringifyJson } from '../contract/json.ts';
import type { Operation } from '../contract/operations.ts';
import { rootUrl, parseRequest } from './request.ts';
import { count, loggable, logger } from '../telemetry.ts';

/** Before its timeout a function responds 503 itself, rather than being killed without a response. */
const LAST_MOMENT_MILLISECONDS = 500;

/** The request as the function of an operation gets it: the parts that its schema names. */
export type Call<O extends Operation> = v.InferOutput<O['request']> & {
  rootUrl: string;
  /** Id of the API key that the request came with; undefined where the route has no authorizer. */
  keyId: string | undefined;
};

/** The function's success. The status is the operation's; an operation without a schema has no body. */
export type Success<O extends Operation> = { headers?: Record<string, string> } & (O['success'] extends {
  schema: infer Schema extends v.GenericSchema;
}
  ? { body: v.InferOutput<Schema> }
  : { body?: never });

export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;
type Middleware = MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult>;

/** The Lambda handler of an operation. Everything thrown becomes an Error body here and nowhere else. */
export function endpoint<O extends Operation>(
  operation: O,
  run: (call: Call<O>) => Promise<Success<O>>,
): Handler {
  // onError runs in reverse order: the Error body is there before headers are added to it.
  return throwingEndpoint(operation, run).use(deprecationNotice(operation)).use(errorBodies(operation));
}

/** The handler of an operation that throws what is thrown. */
export function throwingEndpoint<O extends Operation>(
  operation: O,
  run: (call: Call<O>) => Promise<Success<O>>,
) {
  return middy<APIGatewayProxyEvent, APIGatewayProxyResult>({
    timeoutEarlyInMillis: LAST_MOMENT_MILLISECONDS,
    timeoutEarlyResponse: throwOutOfTime,
  }).handler(async (event: APIGatewayProxyEvent) => {
    const parts = parseRequest(operation, event);
    const { body, headers } = await run({ ...parts, rootUrl: rootUrl(event), keyId: keyId(event) });
    return render(operation.success.status, body, headers);
  });
}

function errorBodies({ id: operation }: Operation): Middleware {
  return {
    onError(request) {
      const { event, context, error } = request;
      const { requestId } = event.requestContext;
      const { code, message } = toApiError(error);
      const body = errorBody(code, message, requestId);
      if (body.status >= 500) {
        logger().addContext(context);
        const circumstances = { code, operation, requestId, keyId: keyId(event) ?? 'unknown' };
        logger().error(message, { error: loggable(error), ...circumstances });
      }
      count(metrics.errorResponses, { code });
      if (code === 'internal_error') {
        count(metrics.internalErrors, { operation, version: context.functionVersion });
      }
      const { retryAfterSeconds: seconds } = errorCatalogue[code];
      request.response = render(body.status, body, seconds ? { 'Retry-After': seconds.toString() } : {});
    },
  };
}

/** Counts calls of a deprecated operation by API key, and adds its headers to every response of its function. */
function deprecationNotice({ id: operation, deprecation }: Operation): Middleware {
  const announce: NonNullable<Middleware['after']> = ({ event, response }) => {
    if (!deprecation || !response) return;
    count(metrics.deprecatedCalls, { operation, keyId: keyId(event) ?? 'unknown' });
    response.headers = {
      ...response.headers,
      Deprecation: `@${deprecation.since.getTime() / 1000}`,
      Sunset: deprecation.sunset.toUTCString(),
      Link: `<${rootUrl(event)}${deprecation.successor}>; rel="successor-version"`,
    };
  };
  return { after: announce, onError: announce };
}

function keyId({ requestContext }: APIGatewayProxyEvent): string | undefined {
  return requestContext.authorizer?.['keyId'] as string | undefined;
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError(isDatabaseUnavailable(error) ? 'service_unavailable' : 'internal_error');
}

function throwOutOfTime(): never {
  throw new ApiError('service_unavailable', 'The service could not answer in time.');
}

function render(statusCode: number, body: unknown, headers?: Record<string, string>): APIGatewayProxyResult {
  return {
    statusCode,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      'Cache-Control': 'no-store',
      ...headers,
    },
    body: body === undefined ? '' : stringifyJson(body),
  };
}
