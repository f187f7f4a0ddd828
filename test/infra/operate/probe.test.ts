import { expect, jest, test } from '@jest/globals';
import { probe } from '../../../infra/operate/probe.ts';
import { errorBody, type ErrorCode } from '../../../shared/contract/errors.ts';
import { type Behavior, inOrder, useServiceBehindProxy } from '../../support/client-proxy.ts';

const printed = jest.spyOn(console, 'log').mockReturnValue();
const printedErrors = jest.spyOn(console, 'error').mockReturnValue();
const { service, proxy } = await useServiceBehindProxy();

/** Probes the local service without pauses between requests. The proxy applies the behaviors to the first requests. */
function run(behaviors: Behavior[] = [], minutes = 0): Promise<void> {
  proxy.decide(inOrder(...behaviors));
  const stage = { stage: 'staging', baseUrl: proxy.baseUrl, apiKey: service.apiKey };
  return probe(stage, new AbortController().signal, minutes, 0);
}

function reply(code: ErrorCode): Behavior {
  const body = errorBody(code);
  return { status: body.status, headers: { 'x-amzn-RequestId': 'the-id' }, body: JSON.stringify(body) };
}

test('the local service passes the probe, which stores nothing', async () => {
  await run();
  expect(printed).toHaveBeenLastCalledWith(`The stage staging passed ${proxy.requests.length} checks.`);
  expect(await (await service.request('/pets')).json()).toEqual([]);
});

test('the probe sends 60 requests a minute, of which 57 have a valid key and no body', async () => {
  await run([], 2);
  const accepted = proxy.requests.filter(
    ({ headers, body }) => headers.authorization?.endsWith(service.apiKey) && body === '',
  );
  expect([accepted.length, proxy.requests.length]).toEqual([114, 120]);
});

test('the probe retries up to two requests that get a 429, a 5xx or no response', async () => {
  await run([reply('too_many_requests'), 'lose']);
  const failure = /^GET \/v1\/\w+ with no key: expected 401, but got 429 \(request id: the-id\)\. /;
  expect(printedErrors).toHaveBeenCalledWith(expect.stringMatching(failure));
  expect(printed).toHaveBeenLastCalledWith(`The stage staging passed ${proxy.requests.length - 2} checks.`);
  // The first check, which sends no key, is repeated until it passes.
  const [first, second, third, fourth] = proxy.requests.map(({ headers }) => headers.authorization);
  expect([first, second, third, fourth]).toEqual([undefined, undefined, undefined, expect.any(String)]);
  const faults: Behavior[] = [reply('too_many_requests'), 'lose', reply('service_unavailable')];
  await expect(run(faults)).rejects.toThrow('3 requests to the stage staging failed.');
});

test.each<[string, string, Behavior[]]>([
  ['requires no key', '401, but got 200', [{ status: 200, body: '[]' }]],
  ['rejects every key', '400, but got 401', ['pass', 'pass', 'pass', reply('unauthorized')]],
  ['rejects every request as invalid', '401, but got 400', [reply('invalid_request')]],
  ['returns no Error body', '401, but got 401 with a wrong body', [{ status: 401, body: '<html></html>' }]],
  ['redirects requests', '401, but got 302', [{ status: 302, headers: { Location: '/pets' } }]],
])('the probe stops at the first wrong response of a stage that %s', async (_stage, words, behaviors) => {
  const error = await run(behaviors).catch(({ message }: Error) => message);
  expect(error).toContain(words);
  expect(proxy.requests).toHaveLength(behaviors.length);
  expect(JSON.stringify([error, printed.mock.calls, printedErrors.mock.calls])).not.toContain(service.apiKey);
});
