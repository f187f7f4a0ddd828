import { expect, test } from '@jest/globals';
import { readRoutes } from '../../../../infra/local/emulator/gateway/routes.ts';
import { method, pathResource, root, sampleApi, templateOf } from '../sample-resources.ts';

// Less specific resources come first, so that these tests fail if the order in the template affects the route.
const findRoute = readRoutes(
  templateOf({
    ...sampleApi,
    Proxy: pathResource(root, '{proxy+}'),
    ProxyAny: method({ Ref: 'Proxy' }, 'ANY'),
    RootAny: method(root, 'ANY'),
    Version: pathResource(root, 'v1'),
    Books: pathResource({ Ref: 'Version' }, 'books'),
    BooksAny: method({ Ref: 'Books' }, 'ANY'),
    BooksGet: method({ Ref: 'Books' }, 'GET'),
    Book: pathResource({ Ref: 'Books' }, '{bookId}'),
    BookGet: method({ Ref: 'Book' }, 'GET'),
    Newest: pathResource({ Ref: 'Books' }, 'newest'),
    NewestGet: method({ Ref: 'Newest' }, 'GET'),
  }),
);

/** Returns the method, the resource and the path parameters of the route for a request. */
function found(request: string): string {
  const [httpMethod = '', path = ''] = request.split(' ');
  const route = findRoute(httpMethod, path)!;
  const parameters = JSON.stringify(Object.fromEntries(route.pathParameters));
  return `${route.method.HttpMethod} ${route.resourcePath} ${parameters}`;
}

test('a request gets the route that API Gateway documents', () => {
  const routes = {
    // A literal precedes a parameter, and a parameter precedes a greedy parameter.
    'GET /v1/books/newest': 'GET /v1/books/newest {}',
    'GET /v1/books/5': 'GET /v1/books/{bookId} {"bookId":"5"}',
    'GET /v1/books/5/a': 'ANY /{proxy+} {"proxy":"v1/books/5/a"}',
    // A literal matches a whole segment in the same case.
    'GET /v1/bookshop': 'ANY /{proxy+} {"proxy":"v1/bookshop"}',
    'GET /v1/Books': 'ANY /{proxy+} {"proxy":"v1/Books"}',
    // A greedy parameter does not match the root.
    'GET /': 'ANY / {}',
    // Resources without the method are skipped.
    'GET /v1': 'ANY /{proxy+} {"proxy":"v1"}',
    'PUT /v1/books/5': 'ANY /{proxy+} {"proxy":"v1/books/5"}',
    // An exact method precedes ANY, and GET does not include HEAD.
    'GET /v1/books': 'GET /v1/books {}',
    'DELETE /v1/books': 'ANY /v1/books {}',
    'HEAD /v1/books': 'ANY /v1/books {}',
    // A trailing slash is ignored, and values stay percent-encoded.
    'GET /v1/books/5/': 'GET /v1/books/{bookId} {"bookId":"5"}',
    'GET /v1/books/a%2Fb': 'GET /v1/books/{bookId} {"bookId":"a%2Fb"}',
  };
  expect(Object.fromEntries(Object.keys(routes).map((request) => [request, found(request)]))).toEqual(routes);
});
