import { describe, expect, test } from '@jest/globals';
import { readRoutes } from '../../../../infra/local/gateway/routes.ts';
import { method, pathResource, root, sampleApi, templateOf } from '../../../support/sample-resources.ts';

// Declared in an order that favours the less specific, so that a route is never found by its place.
const routes = readRoutes(
  templateOf({
    ...sampleApi,
    RootAny: method(root, 'ANY'),
    Proxy: pathResource(root, '{proxy+}'),
    ProxyAny: method({ Ref: 'Proxy' }, 'ANY'),
    Version: pathResource(root, 'v1'),
    Pets: pathResource({ Ref: 'Version' }, 'pets'),
    PetsAny: method({ Ref: 'Pets' }, 'ANY'),
    PetsGet: method({ Ref: 'Pets' }, 'GET'),
    PetsProxy: pathResource({ Ref: 'Pets' }, '{rest+}'),
    PetsProxyDelete: method({ Ref: 'PetsProxy' }, 'DELETE'),
    PetsProxyGet: method({ Ref: 'PetsProxy' }, 'GET'),
    Pet: pathResource({ Ref: 'Pets' }, '{petId}'),
    PetGet: method({ Ref: 'Pet' }, 'GET'),
    PetOwner: pathResource({ Ref: 'Pet' }, 'owner'),
    PetOwnerGet: method({ Ref: 'PetOwner' }, 'GET'),
    Newest: pathResource({ Ref: 'Pets' }, 'newest'),
    NewestGet: method({ Ref: 'Newest' }, 'GET'),
  }),
);

function found(httpMethod: string, path: string): string | undefined {
  const route = routes.find(httpMethod, path);
  return route && `${route.method.HttpMethod} ${route.resourcePath} ${JSON.stringify(route.pathParameters)}`;
}

describe('the routes of a template', () => {
  test.each([
    ['a literal segment goes before a parameter', 'GET', '/v1/pets/newest', 'GET /v1/pets/newest {}'],
    [
      'a parameter takes any other segment, before a greedy one',
      'GET',
      '/v1/pets/5',
      'GET /v1/pets/{petId} {"petId":"5"}',
    ],
    [
      'a parameter keeps its percent-encoding',
      'GET',
      '/v1/pets/a%2Fb%20c',
      'GET /v1/pets/{petId} {"petId":"a%2Fb%20c"}',
    ],
    [
      'below a parameter a literal is found',
      'GET',
      '/v1/pets/5/owner',
      'GET /v1/pets/{petId}/owner {"petId":"5"}',
    ],
    [
      'resource and method are matched together: a parameter without the method leaves it to the greedy one',
      'DELETE',
      '/v1/pets/5',
      'DELETE /v1/pets/{rest+} {"rest":"5"}',
    ],
    [
      'a literal without the method leaves it to the parameters',
      'DELETE',
      '/v1/pets/newest',
      'DELETE /v1/pets/{rest+} {"rest":"newest"}',
    ],
    [
      'what no resource takes goes to the outermost',
      'PUT',
      '/v1/pets/5',
      'ANY /{proxy+} {"proxy":"v1/pets/5"}',
    ],
    ['a greedy parameter takes all segments', 'GET', '/a/b/c', 'ANY /{proxy+} {"proxy":"a/b/c"}'],
    [
      'a greedy parameter takes what is too long for others',
      'GET',
      '/v1/pets/5/a',
      'GET /v1/pets/{rest+} {"rest":"5/a"}',
    ],
    ['an exact method goes before ANY', 'GET', '/v1/pets', 'GET /v1/pets {}'],
    ['ANY takes the other methods', 'POST', '/v1/pets', 'ANY /v1/pets {}'],
    ['HEAD is not implied by GET', 'HEAD', '/v1/pets', 'ANY /v1/pets {}'],
    ['a resource without methods is no route', 'GET', '/v1', 'ANY /{proxy+} {"proxy":"v1"}'],
    ['a trailing slash is ignored', 'GET', '/v1/pets/', 'GET /v1/pets {}'],
    [
      'a trailing slash after a parameter is ignored',
      'GET',
      '/v1/pets/5/',
      'GET /v1/pets/{petId} {"petId":"5"}',
    ],
    ['a greedy parameter does not match the root', 'GET', '/', 'ANY / {}'],
    ['case counts', 'GET', '/V1/pets', 'ANY /{proxy+} {"proxy":"V1/pets"}'],
    [
      'a name in braces is just a value',
      'GET',
      '/v1/pets/{petId}',
      'GET /v1/pets/{petId} {"petId":"{petId}"}',
    ],
    [
      'a greedy name in braces is just a value',
      'GET',
      '/v1/pets/{rest+}',
      'GET /v1/pets/{petId} {"petId":"{rest+}"}',
    ],
    ['names of object members are just values', 'GET', '/__proto__', 'ANY /{proxy+} {"proxy":"__proto__"}'],
    ['an asterisk is just a value', 'OPTIONS', '*', 'ANY /{proxy+} {"proxy":"*"}'],
  ])('%s', (_name, httpMethod, path, expected) => {
    expect(found(httpMethod, path)).toBe(expected);
  });

  test('a greedy parameter alone leaves the root without a route', () => {
    const proxyOnly = readRoutes(
      templateOf({
        ...sampleApi,
        Proxy: pathResource(root, '{proxy+}'),
        ProxyAny: method({ Ref: 'Proxy' }, 'ANY'),
      }),
    );
    expect(proxyOnly.find('GET', '/')).toBeUndefined();
    expect(proxyOnly.find('GET', '')).toBeUndefined();
    expect(proxyOnly.find('GET', '/a')?.pathParameters).toEqual({ proxy: 'a' });
  });

  test('where nothing matches there is no route', () => {
    const one = readRoutes(
      templateOf({
        ...sampleApi,
        Pets: pathResource(root, 'pets'),
        PetsGet: method({ Ref: 'Pets' }, 'GET'),
      }),
    );
    expect(one.find('GET', '/pets')).toBeDefined();
    expect(one.find('POST', '/pets')).toBeUndefined();
    expect(one.find('GET', '/pets/5')).toBeUndefined();
    expect(one.find('GET', '/')).toBeUndefined();
  });

  test.each([
    ['empty', ''],
    ['two slashes', '//'],
    ['many slashes', '/'.repeat(10_000)],
    ['many segments', '/a'.repeat(5_000)],
    ['a long segment', `/v1/pets/${'9'.repeat(100_000)}`],
    ['a broken percent-encoding', '/v1/pets/%'],
    ['a NUL', '/v1/pets/\0'],
    ['dots', '/v1/../v1/./pets'],
  ])('an odd path finds some route and never throws: %s', (_name, path) => {
    expect(routes.find('GET', path)).toMatchObject({ pathParameters: expect.anything() });
  });
});
