import { expect, test } from '@jest/globals';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';
import { PAGE } from '../../../shared/contract/limits.ts';
import { useServiceBehindProxy } from '../../support/client-proxy.ts';
import { type RunningModule, startModule } from '../../support/run-command.ts';

const { service, proxy } = await useServiceBehindProxy();

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
  const stored = await service.call(`?limit=${PAGE.maximum}`);
  expect(inOrder(stored)).toEqual(inOrder(sent.map(({ body }) => parseJson(body))));
});
