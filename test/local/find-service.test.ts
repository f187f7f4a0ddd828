import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { startDatabase } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { openStore } from '../../infra/local/emulator/dynamodb/store.ts';
import {
  findLocalService,
  IN_MEMORY,
  TEMPORARY_PREFIX,
  writeLocalService,
} from '../../infra/local/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// These tests write the connection data of services, as `npm start` does, and read them as `npm run keys` does.

const database = await startDatabase(await openStore(), [], () => true);
afterAll(() => database.close());

/** Folder in place of the system's folder for temporary files, which can contain services of the developer. */
const newParent = () => mkdtempSync(join(folders, 'tmp-'));
const folders = temporaryFolder();

/** Writes the connection data of a service to a new folder in `parent`. Returns the service's base URL and the folder. */
function write(parent: string, port: number, databaseEndpoint = database.endpoint) {
  const folder = mkdtempSync(join(parent, TEMPORARY_PREFIX));
  const baseUrl = `http://localhost:${port}/v1`;
  writeLocalService(folder, { stage: 'staging', baseUrl, apiKeysTable: 'ApiKeys', databaseEndpoint });
  return { baseUrl, folder };
}

/** Writes connection data that a killed service has left, and whose port another program uses now. */
const writeKilled = (parent: string) => write(parent, 3000, new URL('/killed', database.endpoint).href);

test('commands use the only local service in memory, but not one that was killed', async () => {
  const parent = newParent();
  writeKilled(parent);
  await expect(findLocalService(IN_MEMORY, parent)).rejects.toThrow('Run npm start -- --data memory.');
  const { baseUrl } = write(parent, 3001);
  expect(await findLocalService(IN_MEMORY, parent)).toMatchObject({ stage: 'staging', baseUrl });
});

test('commands require a data folder if several local services in memory are running', async () => {
  const parent = newParent();
  const [one, other] = [write(parent, 3001), write(parent, 3002)];
  const message = expect.stringMatching(/^Several local services are running: .* Choose one with --data/);
  await expect(findLocalService(IN_MEMORY, parent)).rejects.toMatchObject({ message });
  await expect(findLocalService(IN_MEMORY, parent)).rejects.toThrow(`${one.baseUrl} in ${one.folder}`);
  expect(await findLocalService(other.folder)).toMatchObject({ baseUrl: other.baseUrl });
});

test('commands do not use a local service with a data folder that was killed', async () => {
  const { folder } = writeKilled(newParent());
  await expect(findLocalService(folder)).rejects.toThrow(`Run npm start -- --data ${folder}.`);
});
