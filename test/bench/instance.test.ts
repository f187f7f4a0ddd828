import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type CpuQuota, createCpuQuota } from './cpu-quota.ts';
import { canReadProcesses, type Instance, startInstance } from './instance.ts';
import { standIn } from './runtime.ts';

const folder = temporaryFolder();
writeFileSync(
  join(folder, 'index.mjs'),
  `if (process.env.FAIL) throw new TypeError('nothing to begin with');

  const acts = {
    tell: (event, { awsRequestId, memoryLimitInMB }) => ({ event, awsRequestId, memoryLimitInMB }),
    work({ milliseconds }) {
      const before = process.cpuUsage();
      for (let used = 0; used < milliseconds * 1_000; ) {
        const { user, system } = process.cpuUsage(before);
        used = user + system;
      }
      return 'done';
    },
    fail() {
      throw new RangeError('too far');
    },
    end: () => process.exit(3),
  };

  export async function handler(event, context) {
    return acts[event.act](event, context);
  }`,
);

const start = (environment: Record<string, string> = {}, quota?: CpuQuota) =>
  startInstance({ folder, environment }, 128, quota, standIn);
const call = (instance: Instance, event: { act: string; milliseconds?: number }) =>
  instance.invoke(JSON.stringify(event));

describe('an instance', () => {
  let instance: Instance;
  beforeAll(async () => {
    instance = await start();
  });
  afterAll(() => instance.stop());

  test('answers one event after the other, each with an id of its own', async () => {
    const answers = [await call(instance, { act: 'tell' }), await call(instance, { act: 'tell' })];
    const results = answers.map(({ result }) => JSON.parse(result));
    expect(results).toEqual([
      { event: { act: 'tell' }, awsRequestId: expect.any(String), memoryLimitInMB: '128' },
      { event: { act: 'tell' }, awsRequestId: expect.any(String), memoryLimitInMB: '128' },
    ]);
    expect(results[0].awsRequestId).not.toBe(results[1].awsRequestId);
  });

  test('hands on that a call failed, and goes on', async () => {
    await expect(call(instance, { act: 'fail' })).rejects.toThrow(
      '"errorType":"RangeError","errorMessage":"too far"',
    );
    expect((await call(instance, { act: 'tell' })).result).toContain('tell');
  });

  (canReadProcesses ? describe : describe.skip)('where the system tells of processes', () => {
    test('has used the processor time that its function took, and memory', async () => {
      const before = instance.cpuMilliseconds();
      await call(instance, { act: 'work', milliseconds: 20 });
      expect(instance.cpuMilliseconds() - before).toBeGreaterThanOrEqual(20);
      expect(instance.residentBytes()).toBeGreaterThan(20e6);
    });
  });

  test('that ends says so to whoever waits for it, and to whoever calls it later', async () => {
    const other = await start();
    await expect(call(other, { act: 'end' })).rejects.toThrow('The instance ended with 3');
    await expect(call(other, { act: 'tell' })).rejects.toThrow('The instance ended with 3');
    await other.stop();
  });
});

test('a function that fails in init is not waited for, and what it threw is told', async () => {
  await expect(start({ FAIL: 'yes' })).rejects.toThrow(
    'The function failed in init: {"errorType":"TypeError","errorMessage":"nothing to begin with"',
  );
});

const quota = createCpuQuota();
const group = join(
  quota?.kind === 'cgroup v2' ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu',
  `pet-store-bench-${process.pid}`,
);
afterAll(() => {
  if (existsSync(group)) quota?.remove();
});

function timesThrottled(): number {
  return Number(/^nr_throttled (\d+)$/m.exec(readFileSync(join(group, 'cpu.stat'), 'utf8'))![1]);
}

// Where a control group can be made: on Linux, by root.
(quota ? describe : describe.skip)('a CPU quota', () => {
  let instance: Instance;
  beforeAll(async () => {
    instance = await start({}, quota);
  });
  afterAll(() => instance.stop());

  test('holds an instance back that has less than a core, and takes it along when it is removed', async () => {
    // Of 128 MB, 1.4 ms in each period.
    const before = timesThrottled();
    await call(instance, { act: 'work', milliseconds: 5 });
    expect(timesThrottled()).toBeGreaterThan(before);

    quota!.remove();
    await expect(call(instance, { act: 'tell' })).rejects.toThrow('The instance ended with SIGKILL');
    expect(existsSync(group)).toBe(false);
    // It also dies by its share of a core, beside whatever else is tested.
  }, 60_000);
});
