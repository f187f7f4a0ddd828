import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/get-pet.ts';
import { getPetEvent, REQUEST_ID } from '../support/api-gateway-event.ts';
import { setEnvironment } from '../support/environment.ts';
import { invoke } from '../support/invoke.ts';
import { counted, countedInternalError, logLines, occurrences } from '../support/log-lines.ts';
import { mock } from '../support/mocked-database.ts';

const rex = { id: 42n, name: 'Rex', categoryId: 2n ** 63n - 1n };

setEnvironment({ PETS_TABLE: 'pets', LIST_PARTITIONS: '1' });

describe('GET /v1/pets/{petId}', () => {
  test('answers 200 with the pet that has this id', async () => {
    mock
      .on(GetCommand, { TableName: 'pets', Key: { id: 42n } })
      .resolves({ Item: { ...rex, creation: 'x', partition: '0' } });
    const { status, text } = await invoke(handler, getPetEvent('%342'));
    expect([status, text]).toEqual([200, '{"id":42,"name":"Rex","categoryId":9223372036854775807}']);
  });

  test('answers 404 when no pet has this id', async () => {
    mock.on(GetCommand).resolves({});
    const { status, body } = await invoke(handler, getPetEvent('42'));
    expect(status).toBe(404);
    expect(body).toEqual({ code: 'not_found', message: 'There is no pet with the id 42.', status: 404n });
  });

  test.each(['abc', '9223372036854775808', '4%'])(
    'answers 404 to %s, which is no id, unread',
    async (petId) => {
      const { status, body } = await invoke(handler, getPetEvent(petId));
      expect([status, body.code]).toEqual([404, 'not_found']);
      expect(mock.calls()).toEqual([]);
    },
  );

  test('answers 503 when the database throttles, and says so on the deprecated way', async () => {
    mock.on(GetCommand).rejects(Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' }));
    const { status, headers, body } = await invoke(handler, getPetEvent('42'));
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'service_unavailable', message: expect.stringContaining(REQUEST_ID) });
    expect(headers).toMatchObject({ 'Retry-After': '1', Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' });
    expect(logLines()).toMatchObject([
      { level: 'ERROR', operation: 'getPet', requestId: REQUEST_ID, error: { name: 'ThrottlingException' } },
    ]);
  });

  describe('counts each call for its key, beside the refusal if it is one:', () => {
    const deprecatedCall = counted('DeprecatedCalls', { operation: 'getPet', keyId: 'key_1' });
    const request = { requestContext: { authorizer: { keyId: 'key_1' } } };

    test.each([
      ['a pet', '42', { Item: rex }, []],
      ['no pet', '42', {}, [counted('Refusals', { code: 'not_found' })]],
      ['no id', 'abc', {}, [counted('Refusals', { code: 'not_found' })]],
    ])('%s', async (_what, petId, found, refusals) => {
      mock.on(GetCommand).resolves(found);
      await invoke(handler, getPetEvent(petId, request));
      expect(occurrences()).toEqual([...refusals, deprecatedCall]);
      expect(logLines()).toEqual([]);
    });

    test('a fault', async () => {
      mock.on(GetCommand).rejects(new Error('no luck'));
      await invoke(handler, getPetEvent('42', request));
      expect(occurrences()).toEqual([...countedInternalError('getPet'), deprecatedCall]);
      expect(logLines()).toMatchObject([{ level: 'ERROR', keyId: 'key_1', error: { message: 'no luck' } }]);
    });
  });
});
