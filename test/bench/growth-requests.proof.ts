import { expect, test } from '@jest/globals';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { startLocalService } from '../support/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { FEWEST_PETS, seedPets } from './growth-pets.ts';
import { kindsInAll, measure } from './growth-requests.ts';

const folder = temporaryFolder();

test('a store is measured if it has the pets that it was filled with, and no others', async () => {
  const { assembly } = await sharedSynthesis();
  const stock = { pets: FEWEST_PETS, partitions: 1 };
  await seedPets(folder, readTemplate('staging', assembly), stock);
  const service = await startLocalService('--data', folder, '--assembly', assembly);
  try {
    expect(await measure([{ ...service, stock }], 1)).toHaveLength(kindsInAll);
    // The creates have added pets.
    await expect(measure([{ ...service, stock }], 1)).rejects.toThrow(
      /^GET http\S+\/pets\?limit=20 was answered 200 .*, which does not fit the pets that are there\.$/,
    );
  } finally {
    await service.stop();
  }
});
