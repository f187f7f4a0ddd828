import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { PAGE } from '../../shared/contract/limits.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { moduleOf } from '../support/invoke.ts';
import { startLocalService } from '../support/local-service.ts';
import { create, get, itemsPath } from '../support/sample.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { hasTools } from '../support/tools.ts';
import { prepareFunctions } from './bench-functions.ts';
import { coldStart } from './bench-measure.ts';
import { measure } from './growth-measure.ts';
import { fillStore } from './growth-items.ts';
import { startStubDatabase } from './stub-database.ts';

// `npm run check` compares the documents with the stored results, and `.ci/run` measures each function and yardstick, so
// these tests do neither.

const folder = temporaryFolder();

beforeAll(() => {
  jest.spyOn(console, 'error').mockImplementation(() => {}); // progress
});

(hasTools() ? describe : describe.skip)('measuring a function', () => {
  test('fails if the response is wrong', async () => {
    const { assembly } = await sharedSynthesis();
    const database = await startStubDatabase(folder);
    const functions = await prepareFunctions(assembly, folder, database);
    const [measured, other] = [create, get].map(({ id }) =>
      functions.find(({ name }) => name === moduleOf(id))!,
    );
    const subject = { ...measured!, event: other!.event, megabytes: 512 };
    await expect(coldStart(subject, { quota: undefined, database })).rejects.toThrow(
      `${subject.name} returned a wrong response`,
    );
    await database.close();
  });
});

test('measuring a store fails if the store contains unexpected items', async () => {
  const { assembly } = await sharedSynthesis();
  const contents = { items: 1_000, partitions: 1 };
  await fillStore(folder, assembly, contents);
  const service = await startLocalService('--data', folder, '--assembly', assembly);
  try {
    expect(await measure([{ ...service, contents }], 1)).toHaveLength(8);
    // The first run has created items, so the contents have changed.
    await expect(measure([{ ...service, contents }], 1)).rejects.toThrow(
      `${itemsPath}?limit=${PAGE.default} returned 200`,
    );
  } finally {
    await service.stop();
  }
});
