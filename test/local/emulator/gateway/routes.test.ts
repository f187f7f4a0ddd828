import { describe, expect, test } from '@jest/globals';
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

describe('API Gateway routes', () => {
  test.each([
    ['GET /v1/books/newest', 'GET /v1/books/newest {}', 'a literal precedes a parameter'],
    ['GET /v1/books/5', 'GET /v1/books/{bookId} {"bookId":"5"}', 'a literal precedes a greedy parameter'],
    ['GET /v1/books/5/a', 'ANY /{proxy+} {"proxy":"v1/books/5/a"}', 'a greedy parameter spans segments'],
    ['GET /v1/bookshop', 'ANY /{proxy+} {"proxy":"v1/bookshop"}', 'a literal matches only a whole segment'],
    ['GET /v1/Books', 'ANY /{proxy+} {"proxy":"v1/Books"}', 'literals are case-sensitive'],
    ['GET /', 'ANY / {}', 'a greedy parameter does not match the root'],
    ['GET /v1', 'ANY /{proxy+} {"proxy":"v1"}', 'resources without methods are skipped'],
    ['GET /v1/books', 'GET /v1/books {}', 'an exact method precedes ANY'],
    ['DELETE /v1/books', 'ANY /v1/books {}', 'ANY includes every other method'],
    ['HEAD /v1/books', 'ANY /v1/books {}', 'GET does not include HEAD'],
    ['PUT /v1/books/5', 'ANY /{proxy+} {"proxy":"v1/books/5"}', 'resources without the method are skipped'],
    ['GET /v1/books/5/', 'GET /v1/books/{bookId} {"bookId":"5"}', 'a trailing slash is ignored'],
    ['GET /v1/books/a%2Fb', 'GET /v1/books/{bookId} {"bookId":"a%2Fb"}', 'values stay percent-encoded'],
    ['GET /v1/books/{bookId}', 'GET /v1/books/{bookId} {"bookId":"{bookId}"}', 'a value can contain braces'],
  ])('%s to %s because %s', (request, expected) => {
    expect(found(request)).toBe(expected);
  });
});
