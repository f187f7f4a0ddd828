import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../infra/command.ts';
import { openStore } from '../../infra/local/emulator/dynamodb/store.ts';
import { explainError, type ServiceOptions, startService } from '../../infra/local/start-service.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folders = temporaryFolder();
const newFolder = () => mkdtempSync(join(folders, 'folder-'));
const assembly = await sharedSynthesis();

/** Returns the message of the UsageError that prevents the service from starting. */
async function problemOf(options: Partial<ServiceOptions>): Promise<string> {
  const defaults = { stage: 'staging', port: '0', synth: false, watch: false, verbose: false };
  try {
    const { close } = await startService({ ...defaults, data: newFolder(), assembly, ...options });
    await close();
    return 'none';
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

test('npm start rejects options that it cannot use, and says which', async () => {
  const file = join(folders, 'file');
  writeFileSync(file, '');
  const problems = {
    port: await problemOf({ port: 'http' }),
    stage: await problemOf({ stage: 'prod', assembly: '' }),
    'stage of the assembly': await problemOf({ stage: 'test' }),
    inspect: await problemOf({ inspect: 'chrome' }),
    watch: await problemOf({ watch: true }),
    assembly: await problemOf({ assembly: newFolder() }),
    data: await problemOf({ data: join(file, 'data') }),
  };
  expect(problems).toEqual({
    port: expect.stringMatching(/^The port http \(--port or PORT\) must be an integer/),
    stage: expect.stringMatching(/no stage prod\. Choose one of its stages: staging, /),
    'stage of the assembly': expect.stringMatching(/no stack PetStore-test, but .*PetStore-staging/),
    inspect: expect.stringMatching(/^--inspect must be an integer/),
    watch: expect.stringMatching(/^--assembly cannot be combined with --watch/),
    assembly: expect.stringMatching(/contains no stacks\. Synthesize with npx cdk synth\.$/),
    data: `${file} is a file. Choose a folder with --data.`,
  });
});

const addresses = Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));
const loopback = addresses.filter((address) => ['127.0.0.1', '::1'].includes(address));
test.each(loopback)('npm start names the port that another program uses on %s', async (host) => {
  await using other = createServer().listen(0, host);
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await problemOf({ port: `${port}` })).toContain(`Port ${port} cannot be used`);
});

test('npm start does not mix the data of two services', async () => {
  const ofProduction = newFolder();
  writeFileSync(join(ofProduction, 'api-key'), 'pets_production_key');
  expect(await problemOf({ data: ofProduction })).toContain(`${ofProduction} is for a different stage`);

  const inUse = newFolder();
  const store = await openStore(join(inUse, 'tables'));
  expect(await problemOf({ data: inUse })).toContain(`Another process uses the tables in ${inUse}`);
  await store.close();
});

test('npm start says whether data that it cannot read is lost', async () => {
  const damaged = newFolder();
  mkdirSync(join(damaged, 'tables'));
  writeFileSync(join(damaged, 'tables', 'CURRENT'), '');
  expect(await problemOf({ data: damaged })).toMatch(
    /^The tables in \S+ are damaged .+ Delete the data only/,
  );

  const unreadable = newFolder();
  mkdirSync(join(unreadable, 'tables', 'CURRENT'), { recursive: true });
  expect(await problemOf({ data: unreadable })).toMatch(
    /^The folder \S+ is unusable .+ Do not delete the data/,
  );

  const full = new Error('IO error: /data/tables/000003.log: No space left on device');
  expect(explainError('/data', full)).toMatchObject({
    message: expect.stringMatching(/^The disk is full .+ The stored data is intact\.$/),
  });
});
