import { expect, jest, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSynthesis } from '../support/assembly.ts';
import { startLocalService } from '../support/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { fillStore, measure } from './growth-measure.ts';
import { startInstance } from './instance.ts';

// `.ci/run` measures each function and baseline with `npm run bench -- --quick`. These tests cover what it does not.

const folder = temporaryFolder();

test('measuring a function fails if the response is wrong', async () => {
  const file = join(folder, 'index.mjs');
  writeFileSync(file, 'export const handler = () => "wrong";');
  const fn = { name: 'it', file, environment: {}, event: {}, expected: 'right' };
  await using instance = await startInstance(fn, 512);
  await expect(instance.invoke()).rejects.toThrow('it returned a wrong response');
});

test('measuring a store fails if the store contains unexpected pets', async () => {
  jest.spyOn(console, 'error').mockImplementation(() => {}); // progress
  const { assembly } = await sharedSynthesis();
  const contents = { pets: 1_000, partitions: 1 };
  await fillStore(folder, assembly, contents);
  const service = await startLocalService('--data', folder, '--assembly', assembly);
  try {
    expect(await measure([{ ...service, contents }], 1)).toHaveLength(8);
    // The first measurement has created pets, so the store contains more pets than `contents` describes.
    await expect(measure([{ ...service, contents }], 1)).rejects.toThrow('/pets?limit=20 returned 200');
  } finally {
    await service.stop();
  }
});
