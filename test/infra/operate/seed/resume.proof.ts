import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readLocalService, writeLocalService } from '../../../../infra/operate/keys/local-service.ts';
import { madeUpPet } from '../../../../infra/operate/seed/pets.ts';
import { parseJson } from '../../../../shared/contract/json.ts';
import type { NewPet, Pet } from '../../../../shared/contract/schemas.ts';
import { sharedSynthesis } from '../../../support/assembly.ts';
import { type ClientProxy, type Fate, startClientProxy } from '../../../support/client-proxy.ts';
import { reportFigure } from '../../../support/proofs-reporter.ts';
import { type LocalService, startLocalService } from '../../../support/local-service.ts';
import { type RunningModule, startModule } from '../../../support/run-command.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
let service: LocalService;
let proxy: ClientProxy;

beforeAll(async () => {
  service = await startLocalService('--data', folder, '--assembly', (await sharedSynthesis()).assembly);
  proxy = await startClientProxy(service.baseAddress);
  // As if the service listened where the proxy does.
  writeLocalService(folder, { ...readLocalService(folder), baseAddress: proxy.baseAddress });
});
afterAll(async () => {
  await proxy.close();
  await service.stop();
});

function start(...parameters: string[]): RunningModule {
  return startModule('infra/operate/seed/main.ts', ['--data', folder, ...parameters]);
}

/** Calls a function when a run has sent this many creates, which are held until it returns. */
function afterCreates(count: number, act: () => unknown): void {
  let creates = 0;
  proxy.decide(async ({ method }): Promise<Fate> => {
    if (method === 'POST') creates += 1;
    if (creates > count) await act();
    return 'pass';
  });
}

/** Pets without their ids, in an order that does not depend on when they were added. */
const inOrder = (pets: NewPet[]): string[] =>
  pets.map(({ name, categoryId, status }) => `${name} ${categoryId} ${status}`).toSorted();

test('a run that is killed and a run that is interrupted are resumed, and each pet is added once', async () => {
  const parameters = ['--seed', '1', '--count'];
  const killed = start(...parameters, '40');
  afterCreates(25, () => killed.process.kill('SIGKILL'));
  await killed.ended;

  const interrupted = start(...parameters, '40');
  const isStopping = new Promise<void>((resolve) => {
    interrupted.process.stderr!.on('data', (chunk: Buffer) => {
      if (chunk.includes('Waiting for the requests in progress …\n')) resolve();
    });
  });
  afterCreates(10, () => interrupted.process.kill('SIGINT') && isStopping);
  const { code, stderr } = await interrupted.ended;
  expect(code).toBe(130);
  const [, added] = /^Stopped\. At least (\d+) of 40 pets are in the store\. /m.exec(stderr) ?? [];
  expect(Number(added)).toBe(proxy.requests.filter(({ method }) => method === 'POST').length);

  proxy.decide(() => 'pass');
  const resumed = await start(...parameters, '45').ended;
  expect(resumed).toEqual({
    code: 0,
    stdout: `Adding 45 pets to ${proxy.baseAddress} with --seed 1 …\nAll 45 pets are in the store.\n`,
    stderr: expect.stringMatching(/^(pets: \d+ %\n)*pets: 100 %\n$/),
  });
  const list = await service.request('/pets?limit=100');
  const stored = parseJson(await list.text()) as Pet[];
  expect(inOrder(stored)).toEqual(inOrder(Array.from({ length: 45 }, (_, index) => madeUpPet(1, index))));
  reportFigure(import.meta.filename, `2 runs interrupted, ${stored.length} of 45 pets stored once`);
});
