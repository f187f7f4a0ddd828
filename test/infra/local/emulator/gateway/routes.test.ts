import { describe, expect, test } from '@jest/globals';
import { readRoutes } from '../../../../../infra/local/emulator/gateway/routes.ts';
import { method, pathResource, root, sampleApi, templateOf } from '../sample-resources.ts';

// Less specific resources come first to check that the order in the template does not determine the route.
const findRoute = readRoutes(
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

function found(request: string): string | undefined {
  const [httpMethod = '', path = ''] = request.split(' ');
  const route = findRoute(httpMethod, path);
  return (
    route &&
    `${route.method.HttpMethod} ${route.resourcePath} ${JSON.stringify(Object.fromEntries(route.pathParameters))}`
  );
}

describe("a template's routes", () => {
  test.each([
    ['GET /v1/pets/newest', 'GET /v1/pets/newest {}', 'literal segments take precedence'],
    ['GET /v1/pets/5', 'GET /v1/pets/{petId} {"petId":"5"}', 'greedy parameters come last'],
    ['GET /v1/pets/5/', 'GET /v1/pets/{petId} {"petId":"5"}', 'a trailing slash is ignored'],
    ['GET /v1/pets/a%2Fb', 'GET /v1/pets/{petId} {"petId":"a%2Fb"}', 'values stay percent-encoded'],
    ['GET /v1/pets/5/owner', 'GET /v1/pets/{petId}/owner {"petId":"5"}', 'a literal can follow a parameter'],
    ['GET /v1/pets/5/a', 'GET /v1/pets/{rest+} {"rest":"5/a"}', 'greedy parameters span segments'],
    ['GET /v1/pets/{rest+}', 'GET /v1/pets/{petId} {"petId":"{rest+}"}', 'braces are valid in a value'],
    ['DELETE /v1/pets/5', 'DELETE /v1/pets/{rest+} {"rest":"5"}', 'no other resource has the method'],
    ['PUT /v1/pets/5', 'ANY /{proxy+} {"proxy":"v1/pets/5"}', 'only ANY includes the method'],
    ['GET /v1/pets', 'GET /v1/pets {}', 'an exact method takes precedence'],
    ['HEAD /v1/pets', 'ANY /v1/pets {}', 'GET does not imply HEAD'],
    ['GET /v1', 'ANY /{proxy+} {"proxy":"v1"}', 'resources without methods are skipped'],
    ['GET /', 'ANY / {}', 'a greedy parameter does not match the root'],
  ])('map %s to %s because %s', (request, expected) => {
    expect(found(request)).toBe(expected);
  });
});
