import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { startLocalService } from '../../support/local-service.ts';
import { itemsPath } from '../../support/sample.ts';

/** Returns the peak resident memory of a process in MB. */
function peakMemory(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) / 1024;
}

// Other systems do not report the peak.
(existsSync('/proc/self/status') ? describe : describe.skip)('on Linux', () => {
  test("60 bodies of 9 MB without an API key raise the service's peak memory by at most 100 MB", async () => {
    const { process, request, stop } = await startLocalService();
    const init = { method: 'POST', headers: { Authorization: '' }, body: ' '.repeat(9_000_000) };
    const before = peakMemory(process.pid!);
    const responses = await Promise.all(Array.from({ length: 60 }, () => request(itemsPath, init)));
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 401));
    expect(peakMemory(process.pid!) - before).toBeLessThanOrEqual(100);
    await stop();
  });
});
