import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readTemplate } from '../../infra/local/emulator/template/template.ts';
import { PAGE } from '../../shared/contract/limits.ts';
import { stackName } from '../../shared/names.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { moduleOf } from '../support/invoke.ts';
import { startLocalService } from '../support/local-service.ts';
import { create, get, itemsPath } from '../support/sample.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { hasTools } from '../support/tools.ts';
import { prepareFunctions, type Subject } from './bench-functions.ts';
import { coldStart, measure as measureFunctions, subjectsOf } from './bench-measure.ts';
import { measure as measureStores } from './growth-measure.ts';
import { fillStore } from './growth-items.ts';
import { startStubDatabase, type StubDatabase } from './stub-database.ts';

// `npm run check` compares the documents with the stored results, so these tests do not.

const folder = temporaryFolder();

(hasTools() ? describe : describe.skip)('measure', () => {
  let database: StubDatabase;
  let subjects: Subject[];
  const measureCold = (...measured: Subject[]) =>
    measureFunctions(coldStart, measured, 1, { quota: undefined, database });

  beforeAll(async () => {
    jest.spyOn(console, 'error').mockImplementation(() => {}); // progress
    const { assembly } = await sharedSynthesis();
    database = await startStubDatabase(folder);
    subjects = subjectsOf(await prepareFunctions(assembly, folder, database), [512]);
  });
  afterAll(async () => {
    await database.close();
    jest.restoreAllMocks();
  });

  test('returns a row for each function and yardstick', async () => {
    const rows = await measureCold(...subjects);
    expect(rows).toHaveLength(subjects.length);
    const chains = rows.filter(({ cold, chain }) => chain && chain.median > cold!.median);
    const preceded = subjects.filter(({ authorizer }) => authorizer);
    expect(chains.map(({ name }) => name)).toEqual(preceded.map(({ name }) => name));
  });

  test('fails if a function returns a wrong response', async () => {
    const [module, otherModule] = [moduleOf(create.id), moduleOf(get.id)];
    const subject = subjects.find(({ name }) => name === module)!;
    const { event } = subjects.find(({ name }) => name === otherModule)!;
    await expect(measureCold({ ...subject, event })).rejects.toThrow(`${module} returned a wrong response`);
  });
});

test('measuring a store fails if the store contains unexpected items', async () => {
  const { assembly } = await sharedSynthesis();
  const contents = { items: 1_000, partitions: 1 };
  await fillStore(folder, readTemplate(stackName('staging'), assembly), contents);
  const service = await startLocalService('--data', folder, '--assembly', assembly);
  try {
    expect(await measureStores([{ ...service, contents }], 1)).toHaveLength(8);
    // The first run has created items, so the contents have changed.
    await expect(measureStores([{ ...service, contents }], 1)).rejects.toThrow(
      `${itemsPath}?limit=${PAGE.default} returned 200`,
    );
  } finally {
    await service.stop();
  }
});
