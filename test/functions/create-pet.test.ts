import { describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../functions/create-pet.ts';
import { database } from '../../shared/storage/database.ts';
import { createEvent } from '../support/api-gateway-event.ts';
import { type ApiResponse, invoke } from '../support/invoke.ts';
import { counted, countedInternalError, logLines, occurrences } from '../support/log-lines.ts';
import { validBody } from '../support/sample.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

useRealTables();

function post(keyId: string, idempotencyKey = 'a'): Promise<ApiResponse> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  const request = { headers, requestContext: { authorizer: { keyId } } };
  return invoke(handler, createEvent(validBody, request));
}

describe('POST /v1/pets with an Idempotency-Key', () => {
  test('creates and counts one pet for each pair of API key and Idempotency-Key, and none for a retry', async () => {
    const different = [await post('key_1'), await post('key_1', 'b'), await post('key_2')];
    expect(await post('key_1')).toEqual(different[0]);
    expect(different.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(different.map(({ body }) => body.id)).size).toBe(3);
    expect(occurrences()).toEqual(different.map(() => counted('PetsCreated')));
  });

  test('returns 500 without a database call if the event contains no API key id', async () => {
    const calls = jest.spyOn(database, 'send');
    const { status } = await post('');
    expect(status).toBe(500);
    expect(logLines()).toMatchObject([{ error: { message: expect.stringContaining('an API key id') } }]);
    expect(calls).not.toHaveBeenCalled();
    expect(occurrences()).toEqual(countedInternalError('createPet'));
  });
});

const wrongTimes = ['1972-01-01T00:00:00.000Z', '2300-01-01T00:00:00.000Z'];
test.each(wrongTimes)(
  'POST /v1/pets returns 503 without a database call if the clock shows %s',
  async (time) => {
    const calls = jest.spyOn(database, 'send');
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse(time));
    const { status, body } = await post('key_1');
    expect([status, body.code]).toEqual([503, 'service_unavailable']);
    const message = `The clock is wrong. It shows ${time}.`;
    expect(logLines()).toMatchObject([{ code: 'service_unavailable', error: { message } }]);
    expect(calls).not.toHaveBeenCalled();
  },
);
