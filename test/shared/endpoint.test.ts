import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { endpoint } from '../../shared/endpoint.ts';
import { ApiError } from '../../shared/errors.ts';
import { operations } from '../../shared/operations.ts';
import type { Pet } from '../../shared/schemas.ts';
import {
  apiGatewayEvent,
  getPetEvent,
  postPetEvent,
  REQUEST_ID,
  STAGE_DOMAIN,
} from '../support/api-gateway-event.ts';
import { invoke } from '../support/invoke.ts';

const rex: Pet = { id: 42n, name: 'Rex', categoryId: 2n ** 63n - 1n };
const pets = [rex];
const secret = 'table arn:aws:dynamodb:eu-central-1:123456789012:table/pets';
const logged = jest.spyOn(console, 'error');

beforeEach(() => {
  logged.mockReset();
});

afterEach(() => {
  logged.mockReset();
});

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
});

describe('a refusal', () => {
  test('has exactly code, message and status, in this order, and is not to be kept', async () => {
    const error = new ApiError('not_found', 'No "such" pet.', { cause: new Error(secret) });
    const { status, headers, text } = await invoke(failing(error), apiGatewayEvent());
    expect(status).toBe(404);
    expect(text).toBe('{"code":"not_found","message":"No \\"such\\" pet.","status":404}');
    expect(headers).toEqual({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    expect(logged).not.toHaveBeenCalled();
  });

  test('of the request keeps the function from being called', async () => {
    const answer = jest.fn<() => Promise<never>>();
    const { body } = await invoke(endpoint(operations.createPet, answer), postPetEvent('{}'));
    expect(body).toMatchObject({ code: 'invalid_request', status: 400n });
    expect(answer).not.toHaveBeenCalled();
  });
});

describe('a fault', () => {
  test.each<[string, unknown]>([
    ['an error', new Error(secret)],
    ['a programming error', new TypeError(`Cannot read ${secret}`)],
    [
      'an error of the database that a repetition does not heal',
      Object.assign(new Error(secret), { name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } }),
    ],
    ['something that is no error', secret],
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
    expect(logged.mock.calls.flat()).toContain(thrown);
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
    expect(logged.mock.calls.flat()).toContain(thrown);
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
    },
  );
});

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
