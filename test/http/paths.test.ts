import { describe, expect, test } from '@jest/globals';
import { firstCollection, operationTests } from '../collections/all.ts';
import { anonymousRequest, expectError, request, rootUrl } from '../support/client.ts';

const { path: listPath } = firstCollection;
const UNKNOWN = 'This URL does not exist. The base URL ends with /v1.';
const TOO_LARGE = 'The body must not exceed 65536 bytes.';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'];

describe('a request to an unknown path', () => {
  test.each([
    '/',
    '/v1',
    listPath,
    `/v2${listPath}`,
    `/v1${listPath.toUpperCase()}`,
    `/v1${listPath}s`,
    `/v1${listPath}%20`,
    `/v1${listPath}/1/2`,
    '/v1/__proto__',
    '/v1/%ff',
    '/{proxy+}',
    `/v1${listPath.slice(0, -1)}?limit=0&%zz`,
  ])('gets a 404 (%s)', async (path) => {
    for (const send of [request, anonymousRequest]) {
      expectError(await send(`${rootUrl}${path}`), 404, 'not_found', UNKNOWN);
    }
  });

  test('gets a 413 if the body exceeds 10 MB', async () => {
    const init = { method: 'PUT', body: ' '.repeat(11_000_000) };
    expectError(await anonymousRequest(`${rootUrl}/v1/unknown`, init), 413, 'request_too_large', TOO_LARGE);
  });
});

describe.each(['/', '/v1', '/v1/unknown'])('a request to the unknown path %s', (path) => {
  test.each(METHODS)('gets a 404 if the method is %s', async (method) => {
    expectError(await anonymousRequest(`${rootUrl}${path}`, { method }), 404, 'not_found', UNKNOWN);
  });
});

/** The methods of each path, from routes such as `GET/v1/books/*`. */
const known = Map.groupBy(
  Object.values(operationTests).map(({ route }) => route.split('/v1') as [method: string, path: string]),
  ([, path]) => path.replace('*', '1'),
);

describe.each([...known])('a request to %s', (path, routes) => {
  const methods = routes.map(([method]) => method);
  test.each(METHODS.filter((method) => !methods.includes(method)))(
    'gets a 405 if the method is %s',
    async (method) => {
      for (const send of [request, anonymousRequest]) {
        const response = await send(path, { method });
        expectError(response, 405, 'method_not_allowed');
        if (response.isRejectedByAws) continue;
        expect(response.headers.get('Allow')).toBe(methods.join(', '));
      }
    },
  );

  test.each(['application/json', 'text/plain; charset=utf-8', 'application/x-www-form-urlencoded'])(
    'gets a 405 for a PUT if the Content-Type is %s',
    async (mediaType) => {
      const headers = { 'Content-Type': mediaType };
      const init = { method: 'PUT', headers, body: '{}' };
      expectError(await anonymousRequest(path, init), 405, 'method_not_allowed');
    },
  );
});
