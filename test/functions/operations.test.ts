import { describe, expect, jest, test } from '@jest/globals';
import { stringifyJson } from '../../shared/contract/json.ts';
import { collections } from '../../shared/contract/operations.ts';
import { createdMetric } from '../../shared/names.ts';
import { database } from '../../shared/storage/database.ts';
import { collectionTests } from '../collections/all.ts';
import { createEvent } from '../support/api-gateway-event.ts';
import { type ApiResponse, handlerOf, invoke } from '../support/invoke.ts';
import { counted, countedServerError, logLines, occurrences } from '../support/log-lines.ts';
import { useRealTables } from '../support/tables-for-tests.ts';

// These tests apply to the functions of every collection.

useRealTables();

describe.each(collections)('POST $path', (collection) => {
  const { id } = collection.operations.create;
  const newItem = collectionTests[collection.plural].newItem('a text');

  async function post(firstKeyId: string, idempotencyKey = 'a'): Promise<ApiResponse> {
    const headers = { 'Idempotency-Key': idempotencyKey };
    const request = { headers, requestContext: { authorizer: { firstKeyId } } };
    return invoke(await handlerOf(id), createEvent(stringifyJson(newItem), request));
  }

  test('creates and counts one item for each pair of API key and Idempotency-Key, and none for a retry', async () => {
    const different = [await post('key_1'), await post('key_1', 'b'), await post('key_2')];
    expect(await post('key_1')).toEqual(different[0]);
    expect(different.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(different.map(({ body }) => body.id)).size).toBe(3);
    expect(occurrences()).toEqual(different.map(() => counted(createdMetric(collection).name)));
  });

  test('returns a 500 without a database call if the authorizer returned no id for an Idempotency-Key', async () => {
    const calls = jest.spyOn(database, 'send');
    const { status } = await post('');
    expect(status).toBe(500);
    expect(logLines()).toMatchObject([{ error: { message: expect.stringContaining('no firstKeyId') } }]);
    expect(calls).not.toHaveBeenCalled();
    expect(occurrences()).toEqual(countedServerError(id, 'internal_error'));
  });

  const wrongTimes = ['1972-01-01T00:00:00.000Z', '2300-01-01T00:00:00.000Z'];
  test.each(wrongTimes)('returns a 503 without a database call if the clock shows %s', async (time) => {
    const calls = jest.spyOn(database, 'send');
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse(time));
    const { status, body } = await post('key_1');
    expect([status, body.code]).toEqual([503, 'service_unavailable']);
    const message = `The clock is wrong. It shows ${time}.`;
    expect(logLines()).toMatchObject([{ code: 'service_unavailable', error: { message } }]);
    expect(calls).not.toHaveBeenCalled();
  });
});
