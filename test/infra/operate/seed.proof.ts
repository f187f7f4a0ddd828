import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parseJson } from '../../../shared/contract/json.ts';
import type { NewPet, Pet } from '../../../shared/contract/schemas.ts';
import { type ClientProxy, startClientProxy } from '../../support/client-proxy.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { type RunningModule, startModule } from '../../support/run-command.ts';

let service: LocalService;
let proxy: ClientProxy;

beforeAll(async () => {
  service = await startLocalService();
  proxy = await startClientProxy(service.baseUrl);
});
afterAll(async () => {
  await proxy.close();
  await service.stop();
});

function start(...parameters: string[]): RunningModule {
  const environment = { BASE_URL: proxy.baseUrl, API_KEY: service.apiKey };
  return startModule('infra/operate/seed.ts', parameters, environment);
}

/** Returns the pets as sorted lines without ids, because concurrent requests create pets in any order. */
const inOrder = (pets: NewPet[]): string[] =>
  pets.map(({ name, categoryId, status }) => `${name} ${categoryId} ${status}`).toSorted();

test('a run that resumes a killed run creates each pet only once', async () => {
  const parameters = ['--seed', '1', '--count'];
  const killed = start(...parameters, '40');
  proxy.decide(() => {
    if (proxy.requests.length > 25) killed.process.kill('SIGKILL');
    return 'pass';
  });
  await killed.ended;

  proxy.decide(() => 'pass');
  const resumed = await start(...parameters, '45').ended;
  expect(resumed).toEqual({
    code: 0,
    stdout: `Adding 45 pets to ${proxy.baseUrl} with --seed 1 …\nAll 45 pets are in the store.\n`,
    stderr: expect.stringMatching(/^(pets: \d+ %\n)*pets: 100 %\n$/),
  });
  const sent = proxy.requests.filter(({ method }) => method === 'POST');
  expect(sent).toHaveLength(45);
  const list = await service.request('/pets?limit=100');
  const stored = parseJson(await list.text()) as Pet[];
  expect(inOrder(stored)).toEqual(inOrder(sent.map(({ body }) => parseJson(body) as NewPet)));
});
