import { expect, jest, test } from '@jest/globals';
import { readOnlyTest } from '../../infra/operate/read-only-test.ts';
import { errorBody, type ErrorCode } from '../../shared/contract/errors.ts';
import { collectionTests } from '../collections/all.ts';
import { type Behavior, inOrder, useServiceBehindProxy } from '../support/client-proxy.ts';
import { done, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const printed = jest.spyOn(console, 'log').mockReturnValue();
const printedErrors = jest.spyOn(console, 'error').mockReturnValue();
// The command for keys finds the service in this folder, in which there is no other service.
process.env['TMPDIR'] = temporaryFolder();
const { service, proxy } = await useServiceBehindProxy();
const issue = ['issue', '--stage', 'local', '--data', 'memory', '--owner', 'Acme', '--read-only', '--json'];
const { key: apiKey } = JSON.parse(done(await runModule('infra/operate/keys.ts', issue)));

/** Tests the local service. The proxy applies the behaviors to the first requests. */
function run(...behaviors: Behavior[]): Promise<void> {
  proxy.decide(inOrder(...behaviors));
  return readOnlyTest({ stage: 'staging', baseUrl: proxy.baseUrl, apiKey }, new AbortController().signal);
}

function reply(code: ErrorCode): Behavior {
  const body = errorBody(code);
  return { status: body.status, headers: { 'x-amzn-RequestId': 'the-id' }, body: JSON.stringify(body) };
}

test('the local service passes the read-only test, which stores nothing', async () => {
  await run();
  expect(printed).toHaveBeenLastCalledWith(`${proxy.baseUrl} passed ${proxy.requests.length} checks.`);
  for (const { path } of Object.values(collectionTests))
    expect(await (await service.request(path)).json()).toEqual([]);
});

test.each<[string, string, Behavior[]]>([
  ['requires no key', '401, but got 200', [{ status: 200, body: '[]' }]],
  ['rejects every key', '200, but got 401', ['pass', 'pass', 'pass', reply('unauthorized')]],
  ['is unavailable', '401, but got 503 (request id: the-id)', [reply('service_unavailable')]],
  ['does not respond', '401, but got 504 (request id: none)', ['lose']],
  ['returns no Error body', '401, but got 401 with a wrong body', [{ status: 401, body: '<html></html>' }]],
  [
    'blocks creates by its firewall',
    '403, but got 403 with',
    ['pass', 'pass', 'pass', 'pass', reply('forbidden')],
  ],
  ['redirects requests', '401, but got 302', [{ status: 302, headers: { Location: '/' } }]],
])(
  'the read-only test fails for a stage that %s, and names the wrong response',
  async (_stage, words, behaviors) => {
    printedErrors.mockClear();
    await expect(run(...behaviors)).rejects.toThrow(/^http\S+ failed 1 of \d+ checks\.$/);
    expect(printedErrors.mock.calls).toEqual([[expect.stringContaining(words)]]);
    expect(JSON.stringify([printed.mock.calls, printedErrors.mock.calls])).not.toContain(apiKey);
  },
);
