import { afterAll, expect, jest, test } from '@jest/globals';
import { generateApiKey } from '../../shared/api-keys.ts';
import { issueApiKey, revokeApiKey } from '../../infra/operate/key-store.ts';
import { stages } from '../support/stages.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { stagingTemplate } from '../support/real-database.ts';

const CACHE_MILLISECONDS = stages.staging.authorizerCacheSeconds * 1_000;
const HOUR_MILLISECONDS = 3_600_000;
const caller = 'arn:aws:iam::123456789012:user/operator';

const service = await startFaultyService(await stagingTemplate());
jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
afterAll(async () => {
  jest.useRealTimers();
  await service.close();
});

/** Sends a request with the key. */
function send(key: string, target: string, content?: object) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return service.send({ target, headers, ...(content && { method: 'POST', body: JSON.stringify(content) }) });
}

/** Advances the clock by each of the durations, and sends a list request after each. Returns the response statuses. */
function statusesAfter(key: string, ...durations: number[]): Promise<number[]> {
  return Array.fromAsync(durations, async (milliseconds) => {
    jest.advanceTimersByTime(milliseconds);
    return (await send(key, '/v1/pets?limit=1')).status;
  });
}

test('an expired key works until its cached authorizer decision expires', async () => {
  const { key } = await issueApiKey(service.store, { owner: 'Acme', lifetime: HOUR_MILLISECONDS, caller });
  const statuses = await statusesAfter(key, HOUR_MILLISECONDS - 1, CACHE_MILLISECONDS - 1, 1);
  expect(statuses).toEqual([200, 200, 401]);
});

test('a revoked key works for lists, creates and gets until its cached authorizer decision expires', async () => {
  const { key, record } = await issueApiKey(service.store, { owner: 'Acme', caller });
  expect(await statusesAfter(key, 0)).toEqual([200]);
  await revokeApiKey(service.store, record, caller);
  expect(await statusesAfter(key, CACHE_MILLISECONDS - 1)).toEqual([200]);
  const created = await send(key, '/v1/pets', { name: 'Rex', categoryId: 7, status: 'available' });
  const read = await send(key, `/v1/pets/${JSON.parse(created.body).id}`);
  expect([created.status, read.status]).toEqual([201, 200]);
  expect(await statusesAfter(key, 1)).toEqual([401]);
  // Clients learn nothing about keys that do not work.
  const unknown = await send(generateApiKey('staging'), '/v1/pets');
  expect((await send(key, '/v1/pets')).body).toBe(unknown.body);
});
