import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { MeasuredFunction } from './bench-functions.ts';
import { measure } from './bench-measure.ts';
import { MEGABYTES_PER_CORE } from './cpu-quota.ts';
import { standIn } from './runtime.ts';

const folder = temporaryFolder();
writeFileSync(
  join(folder, 'index.mjs'),
  'let calls = 0; export const handler = () => ({ calls: (calls += 1) });',
);

/** What is measured of a function that counts its calls, when it is right up to so many. */
function measureUpTo(calls: number) {
  const fn: MeasuredFunction = {
    name: 'counts',
    bundleBytes: 1,
    folder,
    environment: {},
    event: '{}',
    isRight: (result) => result.calls <= calls,
  };
  return measure([{ fn, megabytes: MEGABYTES_PER_CORE }], {
    counts: { coldStarts: 2, warmInstances: 1, warmRequests: 10 },
    quota: undefined,
    runtime: standIn,
    database: { environment: {}, answerAfter: async () => {}, stop() {} },
  });
}

test('a wrong answer among the last ends the measurement, with the answer in a sentence', async () => {
  await expect(measureUpTo(1_509)).rejects.toThrow(
    'counts answered wrongly, mend it before you measure it: {"calls":1510}',
  );
});

test('each cold start is a round, and each request is charged whole milliseconds', async () => {
  const [row] = await measureUpTo(1_510);
  expect(row).toMatchObject({ name: 'counts', megabytes: MEGABYTES_PER_CORE, bundleBytes: 1 });
  expect(row!.cold.rounds).toHaveLength(2);
  expect(row!.billed.median).toBeGreaterThanOrEqual(1);
});
