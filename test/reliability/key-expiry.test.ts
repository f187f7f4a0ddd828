import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type IssuedKey, issueApiKey, revokeApiKey } from '../../infra/operate/keys/lifecycle.ts';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import type { HttpResponse } from '../../infra/local/gateway/http-message.ts';
import { stages } from '../../infra/stages.ts';
import { generateApiKey, type KeyStore } from '../../shared/storage/api-keys.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { fakeTimers } from '../support/fake-timers.ts';
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts';

const CACHE_MILLISECONDS = stages.staging.authorizerCacheSeconds * 1_000;
const HOUR_MILLISECONDS = 3_600_000;
const caller = 'arn:aws:iam::123456789012:user/operator';

let service: FaultyService;
let store: KeyStore;
/** When a test begins, in milliseconds since 1970. The clock stands still but for `setClock`. */
let start = 0;

beforeAll(async () => {
  const { assembly } = await sharedSynthesis();
  service = await startFaultyService(readTemplate('staging', assembly), () => undefined);
  store = { stage: process.env['STAGE']!, table: process.env['API_KEYS_TABLE']! };
  fakeTimers('Date');
});
afterAll(async () => {
  jest.useRealTimers();
  await service.close();
});

beforeEach(() => {
  start = Date.now();
});

/** @param milliseconds since the test began. */
function setClock(milliseconds: number): void {
  jest.setSystemTime(start + milliseconds);
}

function issue(lifetime?: number): Promise<IssuedKey> {
  return issueApiKey(store, { owner: 'Acme', lifetime, caller });
}

function list(key: string): Promise<HttpResponse> {
  return service.send({ target: '/v1/pets?limit=1', headers: { Authorization: `Bearer ${key}` } });
}

/** The statuses of lists with this key at these times, in milliseconds since the test began. */
function statusesAt(key: string, ...times: number[]): Promise<number[]> {
  return Array.fromAsync(times, async (time) => {
    setClock(time);
    return (await list(key)).status;
  });
}

/** The statuses of a create, of a list, of a read and of a list again with this key. */
async function statusesOfRoutes(key: string): Promise<number[]> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  const created = await service.send({ method: 'POST', target: '/v1/pets', headers, body });
  const pet = created.status === 201 ? JSON.parse(created.body).id : 1;
  const others = await Array.fromAsync(['/v1/pets', `/v1/pets/${pet}`, '/v1/pets?status=sold'], (target) =>
    service.send({ target, headers }),
  );
  return [created, ...others].map(({ status }) => status);
}

/** How often the authorizer is asked while something is done. */
async function decisionsDuring(act: () => Promise<unknown>): Promise<number> {
  const before = service.invocations.get('Authorizer')!;
  await act();
  return service.invocations.get('Authorizer')! - before;
}

/** For as long as a decision is kept, that one serves all routes. */
async function expectOneDecision(key: string, statuses: number[]): Promise<void> {
  const decisions = await decisionsDuring(async () => {
    expect(await statusesOfRoutes(key)).toEqual(statuses);
    setClock(CACHE_MILLISECONDS - 1);
    expect(await statusesOfRoutes(key)).toEqual(statuses);
  });
  expect(decisions).toBe(1);
}

describe('one decision of the authorizer', () => {
  test('lets a key in on every route, for as long as it is kept', async () => {
    const { key } = await issue();
    await expectOneDecision(key, [201, 200, 200, 200]);
    setClock(CACHE_MILLISECONDS);
    expect(await decisionsDuring(() => statusesOfRoutes(key))).toBe(1);
  });

  test('keeps a key out on every route, for as long as it is kept', async () => {
    await expectOneDecision(generateApiKey(store.stage), [401, 401, 401, 401]);
  });
});

describe('a key is refused', () => {
  test('from when it expires, if nothing was decided before', async () => {
    const { key } = await issue(HOUR_MILLISECONDS);
    expect(await statusesAt(key, HOUR_MILLISECONDS)).toEqual([401]);
  });

  test('at most the time of the cache after it expires', async () => {
    const { key } = await issue(HOUR_MILLISECONDS);
    const decided = HOUR_MILLISECONDS - 1; // as late as can be
    expect(
      await statusesAt(key, decided, decided + CACHE_MILLISECONDS - 1, decided + CACHE_MILLISECONDS),
    ).toEqual([200, 200, 401]);
  });

  test('at most the time of the cache after it is revoked', async () => {
    const { key, record } = await issue();
    expect(await statusesAt(key, 0)).toEqual([200]);
    await revokeApiKey(store, record, caller);
    expect(await statusesAt(key, CACHE_MILLISECONDS - 1, CACHE_MILLISECONDS)).toEqual([200, 401]);
  });

  test('as any other, for whatever reason', async () => {
    const [expired, revoked] = [await issue(1), await issue()];
    await revokeApiKey(store, revoked.record, caller);
    setClock(1);
    const keys = [expired.key, revoked.key, generateApiKey(store.stage), generateApiKey('production')];
    const answers = await Array.fromAsync([...keys, ''], list);
    const { headers, ...answer } = answers[0]!;
    const { 'x-amzn-RequestId': _requestId, ...others } = headers;
    expect(answer.status).toBe(401);
    for (const one of answers)
      expect(one).toEqual({ ...answer, headers: { ...others, 'x-amzn-RequestId': expect.any(String) } });
  });
});
