import { describe, expect, test } from '@jest/globals';
import { readRoutes } from '../../../../../infra/local/emulator/gateway/routes.ts';
import { method, pathResource, root, sampleApi, templateOf } from '../sample-resources.ts';

// Less specific resources come first, so that these tests fail if the order in the template affects the route.
const findRoute = readRoutes(
  templateOf({
    ...sampleApi,
    RootAny: method(root, 'ANY'),
    Proxy: pathResource(root, '{proxy+}'),
    ProxyAny: method({ Ref: 'Proxy' }, 'ANY'),
    Version: pathResource(root, 'v1'),
    Things: pathResource({ Ref: 'Version' }, 'things'),
    ThingsAny: method({ Ref: 'Things' }, 'ANY'),
    ThingsGet: method({ Ref: 'Things' }, 'GET'),
    Rest: pathResource({ Ref: 'Things' }, '{rest+}'),
    RestDelete: method({ Ref: 'Rest' }, 'DELETE'),
    RestGet: method({ Ref: 'Rest' }, 'GET'),
    Thing: pathResource({ Ref: 'Things' }, '{id}'),
    ThingGet: method({ Ref: 'Thing' }, 'GET'),
    Owner: pathResource({ Ref: 'Thing' }, 'owner'),
    OwnerGet: method({ Ref: 'Owner' }, 'GET'),
    Newest: pathResource({ Ref: 'Things' }, 'newest'),
    NewestGet: method({ Ref: 'Newest' }, 'GET'),
  }),
);

function found(request: string): string {
  const [httpMethod = '', path = ''] = request.split(' ');
  const route = findRoute(httpMethod, path)!;
  const parameters = JSON.stringify(Object.fromEntries(route.pathParameters));
  return `${route.method.HttpMethod} ${route.resourcePath} ${parameters}`;
}

describe("a template's routes", () => {
  test.each([
    ['GET /v1/things/newest', 'GET /v1/things/newest {}', 'literal segments take precedence'],
    ['GET /v1/things/5', 'GET /v1/things/{id} {"id":"5"}', 'greedy parameters come last'],
    ['GET /v1/things/5/', 'GET /v1/things/{id} {"id":"5"}', 'a trailing slash is ignored'],
    ['GET /v1/things/a%2Fb', 'GET /v1/things/{id} {"id":"a%2Fb"}', 'values stay percent-encoded'],
    ['GET /v1/things/5/owner', 'GET /v1/things/{id}/owner {"id":"5"}', 'a literal can follow a parameter'],
    ['GET /v1/things/5/a', 'GET /v1/things/{rest+} {"rest":"5/a"}', 'greedy parameters span segments'],
    ['GET /v1/things/{rest+}', 'GET /v1/things/{id} {"id":"{rest+}"}', 'braces are valid in a value'],
    ['DELETE /v1/things/5', 'DELETE /v1/things/{rest+} {"rest":"5"}', 'no other resource has the method'],
    ['PUT /v1/things/5', 'ANY /{proxy+} {"proxy":"v1/things/5"}', 'only ANY includes the method'],
    ['GET /v1/things', 'GET /v1/things {}', 'an exact method takes precedence'],
    ['HEAD /v1/things', 'ANY /v1/things {}', 'GET does not imply HEAD'],
    ['GET /v1', 'ANY /{proxy+} {"proxy":"v1"}', 'resources without methods are skipped'],
    ['GET /', 'ANY / {}', 'a greedy parameter does not match the root'],
  ])('map %s to %s because %s', (request, expected) => {
    expect(found(request)).toBe(expected);
  });
});
