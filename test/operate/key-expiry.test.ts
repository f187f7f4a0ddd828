import { afterAll, expect, jest, test } from '@jest/globals';
import { generateApiKey } from '../../shared/api-keys.ts';
import { issueApiKey, revokeApiKey } from '../../infra/operate/key-store.ts';
import { stages } from '../support/stages.ts';
import { startFaultyService } from '../support/faulty-service.ts';
import { stagingTemplate } from '../support/real-database.ts';
import { createRequest, listPath, newItem } from '../support/requested-items.ts';

const CACHE_MILLISECONDS = stages.staging.authorizerCacheSeconds * 1_000;
const HOUR_MILLISECONDS = 3_600_000;
const caller = 'arn:aws:iam::123456789012:user/operator';

const service = await startFaultyService(await stagingTemplate());
jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
afterAll(async () => {
  jest.useRealTimers();
  await service.close();
});

/** Advances the clock by each of the durations, and sends a list request after each. Returns the response statuses. */
function statusesAfter(key: string, ...durations: number[]): Promise<number[]> {
  return Array.fromAsync(durations, async (milliseconds) => {
    jest.advanceTimersByTime(milliseconds);
    const headers = { Authorization: `Bearer ${key}` };
    return (await service.send({ target: `/v1${listPath}?limit=1`, headers })).status;
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
  const { headers, ...create } = createRequest({ content: newItem('An item') });
  const withKey = { ...headers, Authorization: `Bearer ${key}` };
  const created = await service.send({ target: `/v1${listPath}`, ...create, headers: withKey });
  const target = `/v1${listPath}/${JSON.parse(created.body).id}`;
  const read = await service.send({ target, headers: withKey });
  expect([created.status, read.status]).toEqual([201, 200]);
  expect(await statusesAfter(key, 1)).toEqual([401]);
});

test('expired, revoked and unknown keys get the same response', async () => {
  const [expired, revoked] = [
    await issueApiKey(service.store, { owner: 'Acme', lifetime: 0, caller }),
    await issueApiKey(service.store, { owner: 'Acme', caller }),
  ];
  await revokeApiKey(service.store, revoked.record, caller);
  const keys = [generateApiKey('staging'), expired.key, revoked.key];
  const responses = await Array.fromAsync(keys, async (key) => {
    const headers = { Authorization: `Bearer ${key}` };
    const { status, body } = await service.send({ target: `/v1${listPath}`, headers });
    return { status, body };
  });
  const [unknown, ...others] = responses;
  expect(unknown!.status).toBe(401);
  expect(others).toEqual([unknown, unknown]);
});
