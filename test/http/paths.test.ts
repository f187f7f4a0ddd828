import { describe, expect, test } from '@jest/globals';
import { methodsByPath } from '../../shared/contract/gateway-responses.ts';
import { anonymousRequest, expectError, request, rootUrl } from '../support/client.ts';
import { collection, itemsPath, validBody } from '../support/sample.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND'];

/** Pairs of a path and a method that the path does not allow. `allow` lists the methods that the path allows. */
const disallowed = Array.from(methodsByPath()).flatMap(([template, allowed]) =>
  METHODS.filter((method) => !allowed.includes(method)).map((method) => ({
    method,
    path: template.replace('/v1', '').replaceAll(/\{\w+\}/g, '1'),
    allow: allowed.join(', '),
  })),
);

describe('a request to an unknown path', () => {
  test.each([
    '/',
    '/v1',
    `${collection}s`,
    `/v1${itemsPath.toUpperCase()}`,
    `${collection}/1/2`,
    `${collection}%20`,
    `/v2${itemsPath}`,
    itemsPath,
    '/v1/__proto__',
    '/v1/%ff',
    '/{proxy+}',
    `${collection.slice(0, -1)}?limit=0&%zz`,
  ])('gets a 404 (%s)', async (path) => {
    for (const send of [request, anonymousRequest]) {
      expectError(await send(`${rootUrl}${path}`), 'not_found');
    }
  });

  test('gets a 413 if the body exceeds 10 MB', async () => {
    const init = { method: 'PUT', body: ' '.repeat(11_000_000) };
    expectError(await anonymousRequest(`${rootUrl}/v1/unknown`, init), 'request_too_large');
  });
});

describe.each(['/', '/v1', '/v1/unknown'])('a request to the unknown path %s', (path) => {
  test.each(METHODS)('gets a 404 if the method is %s', async (method) => {
    expectError(await anonymousRequest(`${rootUrl}${path}`, { method }), 'not_found');
  });
});

describe('a request with a method that the path does not allow', () => {
  test.each(disallowed)('gets a 405 ($method $path)', async ({ method, path, allow }) => {
    for (const send of [request, anonymousRequest]) {
      const response = await send(path, { method });
      expectError(response, 'method_not_allowed');
      if (response.isRejectedByAws) continue;
      expect(response.headers.get('Allow')).toBe(allow);
    }
  });

  test.each(['application/json', 'text/plain; charset=utf-8', 'application/x-www-form-urlencoded'])(
    'gets a 405 if the Content-Type is %s',
    async (mediaType) => {
      const init = { headers: { 'Content-Type': mediaType }, body: JSON.stringify(validBody) };
      for (const { method, path } of disallowed.filter((other) => other.method === 'PUT')) {
        expectError(await anonymousRequest(path, { ...init, method }), 'method_not_allowed');
      }
    },
  );
});
