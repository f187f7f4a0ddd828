import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { endpoint } from '../../../shared/runtime/endpoint.ts';
import { ApiError, type ErrorCode } from '../../../shared/contract/errors.ts';
import type { Deprecation } from '../../../shared/contract/operation.ts';
import { UnavailableError } from '../../../shared/storage/database.ts';
import { apiGatewayEvent, REQUEST_ID } from '../../support/api-gateway-event.ts';
import { books } from '../../support/books.ts';
import { invocation, invoke } from '../../support/invoke.ts';
import { counted, countedServerError, logLines, occurrences, written } from '../../support/log-lines.ts';

const { get, list } = books.operations;
const secret = 'table arn:aws:dynamodb:eu-central-1:123456789012:table/books';
const KEY_ID = 'key_0123456789abcdef';
const COMMON_HEADERS = {
  'Cache-Control': 'no-store',
  'Strict-Transport-Security': 'max-age=31536000',
  'X-Content-Type-Options': 'nosniff',
};
const byKey = { requestContext: { authorizer: { keyId: KEY_ID, principalId: KEY_ID } } };

function failing(error: unknown): ReturnType<typeof endpoint> {
  return endpoint(list, async () => {
    throw error;
  });
}

/** Status of each error, and whether it is logged and counted as an error of the version. */
const errors: Record<ErrorCode, [status: number, isServerError: boolean]> = {
  invalid_request: [400, false],
  unauthorized: [401, false],
  forbidden: [403, false],
  not_found: [404, false],
  method_not_allowed: [405, false],
  request_too_large: [413, false],
  unsupported_media_type: [415, false],
  idempotency_key_reused: [422, false],
  too_many_requests: [429, false],
  internal_error: [500, true],
  service_unavailable: [503, true],
  gateway_timeout: [504, true],
};

function countedError(code: ErrorCode): unknown {
  const [, isServerError] = errors[code];
  return isServerError ? countedServerError('listBooks', code) : [counted('ErrorResponses', { code })];
}

test('a successful response has no body and no Content-Type if the operation has no response schema', async () => {
  const success = { status: 204, description: '' } as const;
  const handler = endpoint({ ...list, success }, async () => ({}));
  const context = { ...invocation, getRemainingTimeInMillis: () => 10_000 } as Context;
  const headers = COMMON_HEADERS;
  expect(await handler(apiGatewayEvent(), context)).toEqual({ statusCode: 204, headers, body: '' });
});

test('an operation that writes rejects a key that can only read, and a request without a key', async () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const handler = endpoint({ ...list, method }, async () => ({ body: [] }));
    const invalid = { multiValueQueryStringParameters: { limit: ['0'] } };
    for (const request of [{ ...invalid, ...byKey }, { requestContext: { authorizer: null } }])
      expect(await invoke(handler, apiGatewayEvent(request))).toMatchObject({
        status: 403,
        body: { code: 'forbidden' },
      });
    const authorizer = { ...byKey.requestContext.authorizer, canWrite: 'true' };
    const response = await invoke(handler, apiGatewayEvent({ requestContext: { authorizer } }));
    expect(response).toMatchObject({ status: 200 });
  }
});

test('an operation with the method GET accepts a key that can only read', async () => {
  const handler = endpoint(list, async () => ({ body: [] }));
  expect(await invoke(handler, apiGatewayEvent(byKey))).toMatchObject({ status: 200 });
});

// The last event is that of an HTTP API or a function URL.
test.each([null, {}, 'warm', { source: 'aws.events' }, { requestContext: { http: { path: '/' } } }])(
  'for the event %j, which is no request, the function only writes a log line',
  async (event) => {
    const handler = endpoint(list, async () => ({ body: [] }));
    expect(await handler(event as unknown as APIGatewayProxyEvent, {} as Context)).toBeUndefined();
    expect(logLines()).toMatchObject([{ level: 'WARN', message: expect.stringContaining('not a request') }]);
    expect(occurrences()).toEqual([]);
  },
);

describe('an error response', () => {
  test('contains only code, message and status', async () => {
    const error = new ApiError('not_found', 'No "such" book.', { cause: new Error(secret) });
    const { status, headers, text } = await invoke(failing(error), apiGatewayEvent());
    expect(status).toBe(404);
    expect(text).toBe('{"code":"not_found","message":"No \\"such\\" book.","status":404}');
    expect(headers).toEqual({
      'Content-Type': 'application/json; charset=utf-8',
      ...COMMON_HEADERS,
    });
  });

  test.each(Object.keys(errors) as ErrorCode[])(
    'is counted, and is logged only if it is a server error (%s)',
    async (code) => {
      const [status, isLogged] = errors[code];
      const error = new ApiError(code, 'No.', { cause: new Error(secret) });
      const response = await invoke(failing(error), apiGatewayEvent(byKey));
      expect(response.status).toBe(status);
      const line = { level: 'ERROR', message: 'No.', code, keyId: KEY_ID };
      expect(occurrences()).toEqual(countedError(code));
      expect(logLines()).toMatchObject(isLogged ? [line] : []);
      expect(written().includes(secret)).toBe(isLogged);
    },
  );
});

describe('a server error', () => {
  const throttling = Object.assign(new Error(secret), { name: 'ThrottlingException' });

  test.each<[string, unknown, ErrorCode]>([
    ['an exception', new TypeError(`Cannot read ${secret}`), 'internal_error'],
    ['a thrown object that is not an error', { text: secret }, 'internal_error'],
    ['a thrown undefined value', undefined, 'internal_error'],
    ['an unavailable database', throttling, 'service_unavailable'],
    ['an unexpected state of the database', new UnavailableError('No.'), 'service_unavailable'],
  ])('contains the request id but not the cause if the cause is %s', async (_cause, thrown, code) => {
    const response = await invoke(failing(thrown), apiGatewayEvent());
    const [status] = errors[code];
    expect(response.status).toBe(status);
    expect(response.body).toEqual({
      code,
      message: expect.stringMatching(`^[A-Z][^.]+\\. Request id: ${REQUEST_ID}$`),
      status: BigInt(status),
    });
    expect(response.headers).toEqual({
      'Content-Type': 'application/json; charset=utf-8',
      ...COMMON_HEADERS,
      ...(code === 'service_unavailable' && { 'Retry-After': '1' }),
    });
    expect(logLines()).toEqual([logLine(code, expect.any(String), thrown)]);
    expect(occurrences()).toEqual(countedError(code));
  });

  test.each([0, 501])('is a 503 if the function has only %i ms left', async (milliseconds) => {
    const handler = endpoint(list, async () => new Promise<never>(() => {}));
    const { status, body } = await invoke(handler, apiGatewayEvent(), milliseconds);
    expect([status, body.code]).toEqual([503, 'service_unavailable']);
    const error = new ApiError('service_unavailable', 'The service could not respond in time.');
    expect(logLines()).toEqual([logLine('service_unavailable', error.message, error)]);
    expect(occurrences()).toEqual(countedError('service_unavailable'));
  });
});

const stack: unknown = expect.stringMatching(/\bat .+/);

/**
 * Returns all expected fields of a server error's log line. Of the event, the line contains only the request id, and the
 * key id, which is `unknown` because the event has none.
 */
function logLine(code: ErrorCode, message: unknown, thrown: unknown): unknown {
  const error = thrown instanceof Error ? { name: thrown.name, message: thrown.message, stack } : {};
  return {
    level: 'ERROR',
    message,
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    service: expect.stringMatching(/\S/),
    sampling_rate: 0,
    cold_start: expect.any(Boolean),
    function_arn: invocation.invokedFunctionArn,
    function_memory_size: invocation.memoryLimitInMB,
    function_name: invocation.functionName,
    function_request_id: invocation.awsRequestId,
    code,
    operation: 'listBooks',
    requestId: REQUEST_ID,
    keyId: 'unknown',
    error: expect.objectContaining(error),
  };
}

describe('a response of a deprecated operation', () => {
  const deprecationHeaders = {
    Deprecation: `@${Date.parse('2026-11-21T00:00:00Z') / 1000}`,
    Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    Link: expect.stringMatching(/\/v1\/books>; rel="successor-version"$/),
  };
  const deprecation: Deprecation = {
    since: new Date('2026-11-21T00:00:00Z'),
    sunset: new Date('2030-12-05T00:00:00Z'),
    successor: '/v1/books',
    advice: 'List the books instead.',
  };
  const deprecated = { ...get, deprecation };
  const working = endpoint(deprecated, async () => ({ body: { id: 42n, title: 'Emma', shelf: 7n } }));
  const broken = endpoint(deprecated, async () => {
    throw new Error(secret);
  });
  const silent = endpoint(deprecated, async () => new Promise<never>(() => {}));

  test.each([
    [200, working, '42', 10_000, []],
    [404, working, 'abc', 10_000, [counted('ErrorResponses', { code: 'not_found' })]],
    [500, broken, '42', 10_000, countedServerError('getBook', 'internal_error')],
    [503, silent, '42', 1, countedServerError('getBook', 'service_unavailable')],
  ])(
    'has deprecation headers and is counted once for its operation (status %i)',
    async (status, handler, id, milliseconds, errorResponses) => {
      const response = await invoke(
        handler,
        apiGatewayEvent({ path: `/v1/books/${id}`, pathParameters: { bookId: id }, ...byKey }),
        milliseconds,
      );
      const headers = { 'Content-Type': 'application/json; charset=utf-8', ...deprecationHeaders };
      expect(response).toMatchObject({ status, headers });
      const call = counted('DeprecatedCalls', { operation: 'getBook' });
      expect(occurrences()).toEqual([...errorResponses, call]);
    },
  );
});
