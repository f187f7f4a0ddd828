import { expect, jest, test } from '@jest/globals';
import { checksOf, probe } from '../../../infra/operate/probe.ts';
import { errorBody, type ErrorCode } from '../../../shared/contract/errors.ts';
import { collectionTests } from '../../collections/all.ts';
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
  for (const { path } of Object.values(collectionTests))
    expect(await (await service.request(path)).json()).toEqual([]);
});

test('the probe sends 60 requests per minute, and each request that the service rejects once per minute', async () => {
  await run([], 2);
  expect(proxy.requests).toHaveLength(120);
  const isExpected = ({ method, headers, body }: (typeof proxy.requests)[number]) =>
    method === 'GET' && headers.authorization?.endsWith(service.apiKey) && body === '';
  const rejected = proxy.requests.filter((request) => !isExpected(request)).map(textOf);
  const [first, second] = [rejected.slice(0, rejected.length / 2), rejected.slice(rejected.length / 2)];
  expect(new Set(first).size).toBe(first.length);
  expect(second).toEqual(first);
  expect(proxy.requests.slice(60, 60 + second.length).map(textOf)).toEqual(second);

  /** Returns what identifies a rejected request in each minute. The text omits keys, because the unknown keys are random. */
  function textOf({ method, target, headers }: (typeof proxy.requests)[number]): string {
    return `${method} ${target} ${headers.authorization ? 'with a key' : 'without a key'}`;
  }
});

const library = {
  paths: {
    '/books': { get: { operationId: 'listBooks' }, post: { operationId: 'addBook' } },
    '/books/{bookId}': { get: { operationId: 'getBook' }, delete: { operationId: 'removeBook' } },
  },
};
const isRare = true;
const listChecks = [
  { method: 'GET', path: '/v1/books', key: 'no key', code: 'unauthorized', isRare },
  { method: 'GET', path: '/v1/books', key: 'an unknown key', code: 'unauthorized', isRare },
  { method: 'OPTIONS', path: '/v1/books', key: 'a valid key', code: 'method_not_allowed', isRare },
  { method: 'GET', path: '/v1/books', key: 'a valid key' },
];

test('the probe checks released operations that list, create and get items', () => {
  expect(checksOf(library, library)).toEqual([
    ...listChecks,
    { method: 'POST', path: '/v1/books', key: 'a valid key', body: '{', code: 'invalid_request', isRare },
    { method: 'GET', path: '/v1/books/0', key: 'a valid key', code: 'not_found' },
  ]);
});

// The released version, which the stage can still run, does not have these operations.
test.each<[string, Record<string, Record<string, { operationId: string }>>]>([
  ['the path', { '/books': { get: { operationId: 'listBooks' } } }],
  ['the id', { '/books': { get: { operationId: 'listBooks' }, post: { operationId: 'createBook' } } }],
  ['the method', { '/books': { get: { operationId: 'listBooks' }, put: { operationId: 'addBook' } } }],
])('the probe does not check an operation if the released contract lacks %s', (_part, paths) => {
  expect(checksOf(library, { paths })).toEqual(listChecks);
  // The probe also omits an operation that the present contract lacks.
  expect(checksOf({ paths }, library)).toEqual(listChecks);
});

test('the probe fails if the released contract contains none of the operations', () => {
  expect(() => checksOf(library, { paths: { '/authors': {} } })).toThrow(
    /^docs\/openapi-released\.json contains no /,
  );
});

test('the probe retries up to two requests that get a 429, a 5xx or no response', async () => {
  await run([reply('too_many_requests'), 'lose']);
  const failure = /^GET \/v1\/\S+ with no key: expected 401, but got 429 \(request id: the-id\)\. /;
  expect(printedErrors).toHaveBeenCalledWith(expect.stringMatching(failure));
  expect(printed).toHaveBeenLastCalledWith(`The stage staging passed ${proxy.requests.length - 2} checks.`);
  // The first check, which sends no key, is repeated until it passes.
  const [first, second, third, fourth] = proxy.requests.map(({ headers }) => headers.authorization);
  expect([first, second, third, fourth]).toEqual([undefined, undefined, undefined, expect.any(String)]);
  const faults: Behavior[] = [reply('too_many_requests'), 'lose', reply('service_unavailable')];
  await expect(run(faults)).rejects.toThrow('3 requests to the stage staging failed.');
});

test('the probe passes if at most two of any 60 consecutive requests fail', async () => {
  const minute = Array.from({ length: 58 }, (): Behavior => 'pass');
  const twice = [reply('too_many_requests'), reply('too_many_requests')];
  await run([...twice, ...minute, ...twice], 3);
  const twoPerMinute = [...twice, ...minute.slice(2), ...twice];
  await expect(run(twoPerMinute, 3)).rejects.toThrow('3 requests to the stage staging failed.');
});

test.each<[string, string, Behavior[]]>([
  ['requires no key', '401, but got 200', [{ status: 200, body: '[]' }]],
  ['rejects every key', '400, but got 401', ['pass', 'pass', 'pass', reply('unauthorized')]],
  ['rejects every request as invalid', '401, but got 400', [reply('invalid_request')]],
  ['returns no Error body', '401, but got 401 with a wrong body', [{ status: 401, body: '<html></html>' }]],
  ['redirects requests', '401, but got 302', [{ status: 302, headers: { Location: '/' } }]],
])('the probe stops at the first wrong response of a stage that %s', async (_stage, words, behaviors) => {
  const error = await run(behaviors).catch(({ message }: Error) => message);
  expect(error).toContain(words);
  expect(proxy.requests).toHaveLength(behaviors.length);
  expect(JSON.stringify([error, printed.mock.calls, printedErrors.mock.calls])).not.toContain(service.apiKey);
});
