import { describe, expect, jest, test } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { endpoint } from '../../../shared/runtime/endpoint.ts';
import { ApiError, errorCatalogue, type ErrorCode } from '../../../shared/contract/errors.ts';
import { operations } from '../../../shared/contract/operations.ts';
import type { Pet } from '../../../shared/contract/schemas.ts';
import {
  apiGatewayEvent,
  getPetEvent,
  postPetEvent,
  REQUEST_ID,
  STAGE_DOMAIN,
} from '../../support/api-gateway-event.ts';
import { invocation, invoke } from '../../support/invoke.ts';
import { counted, countedInternalError, logLines, occurrences, written } from '../../support/log-lines.ts';

const rex: Pet = { id: 42n, name: 'Rex', categoryId: 2n ** 63n - 1n };
const pets = [rex];
const secret = 'table arn:aws:dynamodb:eu-central-1:123456789012:table/pets';
const KEY_ID = 'key_0123456789abcdef';
const byKey = { requestContext: { authorizer: { keyId: KEY_ID, principalId: KEY_ID } } };

function failing(error: unknown): ReturnType<typeof endpoint> {
  return endpoint(operations.listPets, async () => {
    throw error;
  });
}

describe('an answer', () => {
  test('has the status of the operation, JSON with exact integers, and is not to be kept', async () => {
    const handler = endpoint(operations.createPet, async ({ body }) => ({ body: { id: 42n, ...body } }));
    const { status, headers, text } = await invoke(
      handler,
      postPetEvent('{"name":"Rex","categoryId":9223372036854775807}'),
    );
    expect(status).toBe(201);
    expect(text).toBe('{"id":42,"name":"Rex","categoryId":9223372036854775807}');
    expect(headers).toEqual({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  });

  test('has the headers of the function', async () => {
    const handler = endpoint(operations.listPets, async ({ rootAddress }) => ({
      body: pets,
      headers: { Link: `<${rootAddress}>` },
    }));
    const { status, headers } = await invoke(handler, apiGatewayEvent());
    expect(status).toBe(200);
    expect(headers).toHaveProperty('Link', `<https://${STAGE_DOMAIN}/staging>`);
  });

  test('has neither a body nor its type if the operation has none', async () => {
    const success = { status: 204, description: '' } as const;
    const handler = endpoint({ ...operations.listPets, success }, async () => ({}));
    const context = { ...invocation, getRemainingTimeInMillis: () => 10_000 } as Context;
    expect(await handler(apiGatewayEvent(), context)).toEqual({
      statusCode: 204,
      headers: { 'Cache-Control': 'no-store' },
      body: '',
    });
  });

  test('leaves nothing in the log, and counts nothing', async () => {
    const handler = endpoint(operations.listPets, async () => ({ body: pets }));
    expect((await invoke(handler, apiGatewayEvent())).status).toBe(200);
    expect([logLines(), occurrences()]).toEqual([[], []]);
  });
});

describe('a refusal', () => {
  test('has exactly code, message and status, in this order, and is not to be kept', async () => {
    const error = new ApiError('not_found', 'No "such" pet.', { cause: new Error(secret) });
    const { status, headers, text } = await invoke(failing(error), apiGatewayEvent());
    expect(status).toBe(404);
    expect(text).toBe('{"code":"not_found","message":"No \\"such\\" pet.","status":404}');
    expect(headers).toEqual({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  });

  test('of the request keeps the function from being called', async () => {
    const answer = jest.fn<() => Promise<never>>();
    const { body } = await invoke(endpoint(operations.createPet, answer), postPetEvent('{}'));
    expect(body).toMatchObject({ code: 'invalid_request', status: 400n });
    expect(answer).not.toHaveBeenCalled();
    expect(occurrences()).toEqual([counted('Refusals', { code: 'invalid_request' })]);
  });

  const codes = Object.keys(errorCatalogue) as ErrorCode[];

  test.each(codes)('%s is counted once, by its code', async (code) => {
    await invoke(failing(new ApiError(code, 'No.')), apiGatewayEvent(byKey));
    expect(occurrences().filter(({ name }) => name === 'Refusals')).toEqual([counted('Refusals', { code })]);
  });

  test.each(codes.filter((code) => code !== 'internal_error'))(
    '%s is no error of the version that answers it',
    async (code) => {
      await invoke(failing(new ApiError(code, 'No.')), apiGatewayEvent(byKey));
      expect(occurrences()).toHaveLength(1);
    },
  );

  test.each(codes.filter((code) => errorCatalogue[code].status < 500))(
    '%s leaves no line in the log, not even of its cause',
    async (code) => {
      await invoke(failing(new ApiError(code, 'No.', { cause: new Error(secret) })), apiGatewayEvent());
      expect(logLines()).toEqual([]);
      expect(written()).not.toContain(secret);
    },
  );

  test.each(codes.filter((code) => errorCatalogue[code].status >= 500))(
    '%s leaves one line in the log',
    async (code) => {
      await invoke(failing(new ApiError(code, 'No.')), apiGatewayEvent());
      expect(logLines()).toMatchObject([{ level: 'ERROR', message: 'No.', code }]);
    },
  );
});

describe('a fault', () => {
  test.each<[string, unknown]>([
    ['an error', new Error(secret)],
    ['a programming error', new TypeError(`Cannot read ${secret}`)],
    [
      'an error of the database that a repetition does not heal',
      Object.assign(new Error(secret), { name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } }),
    ],
    ['something that is no error', { text: secret }],
    ['nothing', undefined],
  ])('from %s is a 500 with the request id, and its cause stays in the log', async (_what, thrown) => {
    const { status, headers, text, body } = await invoke(failing(thrown), apiGatewayEvent());
    expect(status).toBe(500);
    expect(body).toEqual({
      code: 'internal_error',
      message: expect.stringContaining(REQUEST_ID),
      status: 500n,
    });
    expect(text).not.toContain('arn:');
    expect(headers).not.toHaveProperty('Retry-After');
    expect(logLines()).toEqual([logLine('internal_error', 'Something went wrong on our side.', thrown)]);
    expect(occurrences()).toEqual(countedInternalError('listPets'));
  });

  test.each<[string, Error]>([
    ['throttling', Object.assign(new Error(secret), { name: 'ThrottlingException' })],
    ['no answer in time', Object.assign(new Error(secret), { name: 'TimeoutError' })],
    ['an ApiError of the service', new ApiError('service_unavailable', 'Please repeat the request.')],
  ])('from %s is a 503 with the request id that asks for another try', async (_what, thrown) => {
    const { status, headers, text, body } = await invoke(failing(thrown), apiGatewayEvent());
    expect(status).toBe(503);
    expect(body).toEqual({
      code: 'service_unavailable',
      message: expect.stringContaining(REQUEST_ID),
      status: 503n,
    });
    expect(text).not.toContain('arn:');
    expect(headers).toMatchObject({ 'Retry-After': '1', 'Cache-Control': 'no-store' });
    expect(logLines()).toEqual([logLine('service_unavailable', expect.stringMatching(/\S/), thrown)]);
    expect(occurrences()).toEqual([counted('Refusals', { code: 'service_unavailable' })]);
  });

  test.each([0, 3, 501])(
    'of a function with %i ms left is a 503 before it is killed',
    async (milliseconds) => {
      const handler = endpoint(operations.listPets, async () => new Promise<never>(() => {}));
      const { status, headers, body } = await invoke(handler, apiGatewayEvent(), milliseconds);
      expect(status).toBe(503);
      expect(body).toEqual({
        code: 'service_unavailable',
        message: expect.stringContaining(REQUEST_ID),
        status: 503n,
      });
      expect(headers).toHaveProperty('Retry-After', '1');
      const error = new ApiError('service_unavailable', 'The service could not answer in time.');
      expect(logLines()).toEqual([logLine('service_unavailable', error.message, error)]);
      expect(occurrences()).toEqual([counted('Refusals', { code: 'service_unavailable' })]);
    },
  );

  test('is logged with the id of the key', async () => {
    await invoke(failing(new Error(secret)), apiGatewayEvent(byKey));
    expect(logLines()).toMatchObject([{ keyId: KEY_ID }]);
  });

  test('is logged with its causes, down to the first', async () => {
    const first = new TypeError('the first cause');
    const second = new Error('the second cause', { cause: first });
    const error = new ApiError('service_unavailable', 'Please repeat the request.', { cause: second });
    await invoke(failing(error), apiGatewayEvent());
    expect(logLines()).toMatchObject([
      {
        error: {
          name: 'ApiError',
          cause: {
            name: 'Error',
            message: 'the second cause',
            stack: expect.stringMatching(/\bat .*endpoint\.test/),
            cause: { name: 'TypeError', message: 'the first cause', stack: expect.any(String) },
          },
        },
      },
    ]);
  });

  test('that is its own cause is answered, and logged to some depth', async () => {
    const error = new Error('a ring');
    error.cause = error;
    const { status } = await invoke(failing(error), apiGatewayEvent());
    expect(status).toBe(500);
    expect(logLines()).toMatchObject([{ error: { message: 'a ring', cause: { message: 'a ring' } } }]);
    expect(occurrences()).toContainEqual(counted('Refusals', { code: 'internal_error' }));
  });

  test('of the database is logged with what the SDK says of the call', async () => {
    const $metadata = {
      httpStatusCode: 400,
      requestId: 'request of the SDK',
      attempts: 3,
      totalRetryDelay: 75,
    };
    const error = Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException', $metadata });
    await invoke(failing(error), apiGatewayEvent());
    expect(logLines()).toMatchObject([{ error: { name: 'ThrottlingException', $metadata } }]);
  });
});

const stack: unknown = expect.stringMatching(/\bat .+/);

/** The whole line that is logged of a fault: nothing of the event but two ids. */
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
    operation: 'listPets',
    requestId: REQUEST_ID,
    keyId: 'unknown',
    error: expect.objectContaining(error),
  };
}

describe('every answer of a deprecated operation', () => {
  const announced = {
    Deprecation: `@${Date.parse('2026-11-21T00:00:00Z') / 1000}`,
    Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    Link: `<https://${STAGE_DOMAIN}/staging/v1/pets>; rel="successor-version"`,
  };
  const getPet = endpoint(operations.getPet, async () => ({ body: rex }));
  const broken = endpoint(operations.getPet, async () => {
    throw new Error(secret);
  });
  const silent = endpoint(operations.getPet, async () => new Promise<never>(() => {}));

  test.each([
    ['200', 200, getPet, '42', 10_000],
    ['404', 404, getPet, 'abc', 10_000],
    ['500', 500, broken, '42', 10_000],
    ['503', 503, silent, '42', 1],
  ])('announces its end: %s', async (_what, status, handler, petId, milliseconds) => {
    const answer = await invoke(handler, getPetEvent(petId), milliseconds);
    expect(answer).toMatchObject({ status, headers: { 'Content-Type': 'application/json', ...announced } });
  });

  test.each([
    ['200', getPet, '42', 10_000, []],
    ['404', getPet, 'abc', 10_000, [counted('Refusals', { code: 'not_found' })]],
    ['500', broken, '42', 10_000, countedInternalError('getPet')],
    ['503', silent, '42', 1, [counted('Refusals', { code: 'service_unavailable' })]],
  ])('is counted once, by operation and key: %s', async (_what, handler, petId, milliseconds, refusals) => {
    await invoke(handler, getPetEvent(petId, byKey), milliseconds);
    expect(occurrences()).toEqual([
      ...refusals,
      counted('DeprecatedCalls', { operation: 'getPet', keyId: KEY_ID }),
    ]);
  });

  test.each([
    ['no authorizer', undefined],
    ['an authorizer without a context', null],
    ['a context without the id', { principalId: 'nobody' }],
  ])('is counted for a key that is unknown, with %s', async (_what, authorizer) => {
    await invoke(getPet, getPetEvent('42', { requestContext: { authorizer } }));
    expect(occurrences()).toEqual([counted('DeprecatedCalls', { operation: 'getPet', keyId: 'unknown' })]);
  });

  test('is counted for the key of its own call', async () => {
    for (const keyId of ['key_1', 'key_2']) {
      await invoke(getPet, getPetEvent('42', { requestContext: { authorizer: { keyId } } }));
    }
    await invoke(getPet, getPetEvent('42'));
    expect(occurrences().map(({ dimensions }) => dimensions['keyId'])).toEqual(['key_1', 'key_2', 'unknown']);
  });

  test('points to the successor on a domain of its own', async () => {
    const requestContext = { domainName: 'pets.example.com', path: '/v1/pets/42' };
    const { headers } = await invoke(getPet, getPetEvent('42', { requestContext }));
    expect(headers).toHaveProperty('Link', '<https://pets.example.com/v1/pets>; rel="successor-version"');
  });

  test('and of no other', async () => {
    const { headers } = await invoke(
      endpoint(operations.listPets, async () => ({ body: pets })),
      apiGatewayEvent(),
    );
    expect(Object.keys(headers)).toEqual(['Content-Type', 'Cache-Control']);
  });
});
