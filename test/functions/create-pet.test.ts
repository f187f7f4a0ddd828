import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/create-pet.ts';
import { postPetEvent, REQUEST_ID, STAGE_DOMAIN } from '../support/api-gateway-event.ts';
import { setEnvironment } from '../support/environment.ts';
import { invoke } from '../support/invoke.ts';
import { counted, countedInternalError, logLines, occurrences } from '../support/log-lines.ts';
import { mock } from '../support/mocked-database.ts';

const taken = new ConditionalCheckFailedException({
  message: 'The conditional request failed',
  $metadata: {},
});

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '1' });

function written(): Record<string, unknown>[] {
  return mock.commandCalls(PutCommand).map(({ args }) => args[0].input.Item ?? {});
}

describe('POST /v1/pets', () => {
  test('answers 201 with the pet as stored and the address at which it is', async () => {
    mock.on(PutCommand).resolves({});
    const event = postPetEvent(
      '{"id":1,"name":"Rex","categoryId":-9223372036854775808,"status":"sold","color":"red"}',
    );
    const { status, headers, body } = await invoke(handler, event);
    const [{ id } = {}] = written();
    expect(status).toBe(201);
    expect(body).toEqual({ id, name: 'Rex', categoryId: -(2n ** 63n), status: 'sold' });
    expect(headers).toHaveProperty('Location', `https://${STAGE_DOMAIN}/staging/v1/pets/${String(id)}`);
    expect(written()).toEqual([
      { ...body, partition: '0', statusPartition: 'sold#0', creation: expect.any(String) },
    ]);
    expect(id).toBeGreaterThan(1n);
  });

  test('counts the pet once it is stored, and logs nothing', async () => {
    const before: unknown[] = [];
    mock.on(PutCommand).callsFake(() => {
      before.push(...occurrences());
      return {};
    });
    await invoke(handler, postPetEvent('{"name":"Rex","categoryId":7}'));
    expect(before).toEqual([]);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
    expect(logLines()).toEqual([]);
  });

  test('gives the address on a domain of its own', async () => {
    mock.on(PutCommand).resolves({});
    const requestContext = { domainName: 'pets.example.com', path: '/v1/pets' };
    const { headers, body } = await invoke(
      handler,
      postPetEvent('{"name":"Rex","categoryId":7}', { requestContext }),
    );
    expect(headers).toHaveProperty('Location', `https://pets.example.com/v1/pets/${body.id}`);
  });

  test.each([
    [400, 'invalid_request', '{"name":"Rex"}', {}, 'categoryId is required'],
    [400, 'invalid_request', '{"name":"Rex","categoryId":7,"status":null}', {}, 'status must be'],
    [400, 'invalid_request', '{', {}, 'not valid JSON'],
    [413, 'request_too_large', ' '.repeat(65_537), {}, '65536 bytes'],
    [
      415,
      'unsupported_media_type',
      '{"name":"Rex","categoryId":7}',
      { 'content-type': 'text/plain' },
      'application/json',
    ],
  ])('answers %i, counts one %s and writes nothing', async (status, code, text, headers, words) => {
    const answer = await invoke(handler, postPetEvent(text, { headers }));
    expect(answer).toMatchObject({
      status,
      body: { message: expect.stringContaining(words), status: BigInt(status) },
    });
    expect(mock.calls()).toEqual([]);
    expect(occurrences()).toEqual([counted('Refusals', { code })]);
    expect(logLines()).toEqual([]);
  });

  test('answers 201 to a write that had happened already, and makes no second pet', async () => {
    mock.on(PutCommand).rejects(taken);
    mock.on(GetCommand).callsFake(() => ({ Item: { ...written()[0] } }));
    const { status, body } = await invoke(handler, postPetEvent('{"name":"Rex","categoryId":7}'));
    expect(status).toBe(201);
    expect(written().map(({ id }) => id)).toEqual([body.id]);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
  });

  test('answers 503 when no id was free', async () => {
    mock.on(PutCommand).rejects(taken);
    mock.on(GetCommand).resolves({ Item: { creation: 'of another call' } });
    const { status, headers, body } = await invoke(handler, postPetEvent('{"name":"Rex","categoryId":7}'));
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'service_unavailable', message: expect.stringContaining(REQUEST_ID) });
    expect(headers).toHaveProperty('Retry-After', '1');
    expect(occurrences()).toEqual([counted('Refusals', { code: 'service_unavailable' })]);
  });

  test('answers 500 when its environment is not set, and keeps to itself which', async () => {
    delete process.env['PETS_TABLE'];
    const { status, text } = await invoke(handler, postPetEvent('{"name":"Rex","categoryId":7}'));
    expect(status).toBe(500);
    expect(text).not.toContain('PETS_TABLE');
    expect(occurrences()).toEqual(countedInternalError('createPet'));
    expect(logLines()).toMatchObject([
      {
        level: 'ERROR',
        operation: 'createPet',
        requestId: REQUEST_ID,
        error: { message: expect.stringContaining('PETS_TABLE') },
      },
    ]);
  });
});
