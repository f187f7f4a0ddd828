import { afterAll, expect, test } from '@jest/globals';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';
import { PAGE } from '../../../shared/contract/limits.ts';
import { startClientProxy } from '../../support/client-proxy.ts';
import { startLocalService } from '../../support/local-service.ts';
import { type RunningModule, startModule } from '../../support/run-command.ts';
import { collection } from '../../support/sample.ts';

const service = await startLocalService();
const proxy = await startClientProxy(service.baseUrl);
afterAll(async () => {
  await proxy.close();
  await service.stop();
});

function start(...parameters: string[]): RunningModule {
  const environment = { BASE_URL: proxy.baseUrl, API_KEY: service.apiKey };
  return startModule('infra/operate/seed.ts', parameters, environment);
}

/** Returns the items as sorted lines without ids, because concurrent requests create items in any order. */
const inOrder = (items: any): string[] =>
  items.map((item: object) => stringifyJson({ ...item, id: undefined })).toSorted();

test('a run that resumes a killed run creates each item only once', async () => {
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
    stdout: expect.stringMatching(/^Adding 45 .* with --seed 1 …\nAll 45 .* are in the store\.\n$/),
    stderr: expect.stringMatching(/^(\w+: \d+ %\n)*\w+: 100 %\n$/),
  });
  const sent = proxy.requests.filter(({ method }) => method === 'POST');
  expect(sent).toHaveLength(45);
  const list = await service.request(`${collection.replace('/v1', '')}?limit=${PAGE.maximum}`);
  const stored = parseJson(await list.text());
  expect(inOrder(stored)).toEqual(inOrder(sent.map(({ body }) => parseJson(body))));
});
