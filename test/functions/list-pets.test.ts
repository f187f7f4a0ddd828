import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { handler } from '../../functions/list-pets.ts';
import { listEvent } from '../support/api-gateway-event.ts';
import { type ApiResponse, invoke } from '../support/invoke.ts';
import { counted, countedServerError, logLines, occurrences } from '../support/log-lines.ts';
import { inputs, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({ PETS_TABLE: 'pets' });

/** Invokes the function for a list with the given query parameters. */
function list(query: Record<string, string> = {}): Promise<ApiResponse> {
  const values = Object.entries(query).map(([name, value]) => [name, [value]]);
  return invoke(handler, listEvent(Object.fromEntries(values), { path: '/v1/pets' }));
}

/** Returns a pet as the table stores it, with the attributes that only the service uses. */
function stored(id: bigint) {
  return { id, name: 'Rex', categoryId: 7n, status: 'sold', creation: 'x', list: 'all' };
}

describe('GET /pets returns a 200', () => {
  test('with the 20 newest pets, without the attributes that only the service uses, and a link to the next page', async () => {
    const ids = Array.from({ length: 21 }, (_, index) => BigInt(100 - index));
    mock.on(QueryCommand).resolves({ Items: ids.map(stored) });
    const { status, headers, text } = await list();
    const pets = ids.slice(0, 20).map((id) => `{"id":${id},"name":"Rex","categoryId":7,"status":"sold"}`);
    expect([status, text]).toEqual([200, `[${pets.join()}]`]);
    expect(headers).toEqual({
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'Strict-Transport-Security': 'max-age=31536000',
      'X-Content-Type-Options': 'nosniff',
      // The cursor is the id 81, the last on this page.
      Link: '<https://abc123.execute-api.eu-central-1.amazonaws.com/staging/v1/pets?limit=20&cursor=AAAAAAAAAFE>; rel="next"',
    });
    expect(inputs()).toEqual([
      {
        TableName: 'pets',
        IndexName: 'newest',
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': 'list' },
        ExpressionAttributeValues: { ':key': 'all' },
        ScanIndexForward: false,
        Limit: 21, // One pet more than the page has shows whether there is a next page.
      },
    ]);
  });

  test('without a link if there are no more pets', async () => {
    mock.on(QueryCommand).resolves({ Items: [stored(2n), stored(1n)] });
    const { status, headers, body } = await list({ limit: '2' });
    expect([status, body.map(({ id }: { id: bigint }) => id)]).toEqual([200, [2n, 1n]]);
    expect(headers).not.toHaveProperty('Link');
  });

  test('with pets that have a status, from the position of a cursor, and a link with the same status', async () => {
    mock.on(QueryCommand).resolves({ Items: [stored(41n), stored(40n)] });
    const { headers } = await list({ limit: '1', status: 'sold', cursor: 'AAAAAAAAACo' });
    expect(headers['Link']).toContain('/v1/pets?limit=1&status=sold&cursor=AAAAAAAAACk>; rel="next"');
    expect(inputs()).toMatchObject([
      {
        IndexName: 'newest-by-status',
        KeyConditionExpression: '#key = :key AND id < :cursor',
        ExpressionAttributeNames: { '#key': 'status' },
        ExpressionAttributeValues: { ':key': 'sold', ':cursor': 42n },
        Limit: 2,
      },
    ]);
  });
});

describe('GET /pets returns a 400', () => {
  test.each([
    [
      { limit: '0' },
      'limit must be a single integer from 1 to 100 in decimal digits, without leading zeros, or omitted.',
    ],
    [{ status: 'lost' }, expect.stringMatching(/^status must be [^;]+$/)],
    [{ cursor: 'x' }, 'cursor must be unchanged from the Link header of a page, or omitted.'],
    [{ Status: 'sold' }, 'unknown query parameters: "Status" (known: limit, status, cursor).'],
  ])('for the query %j', async (query, message) => {
    const { status, text } = await list(query);
    expect([status, JSON.parse(text)]).toEqual([400, { code: 'invalid_request', message, status: 400 }]);
    expect(inputs()).toEqual([]);
    expect(occurrences()).toEqual([counted('ErrorResponses', { code: 'invalid_request' })]);
  });

  test('with the problems of all parameters in one message', async () => {
    const { body } = await list({ limit: '0', status: 'lost', offset: '1' });
    expect(body.message).toMatch(
      /^unknown query parameters: [^;]+; limit must be [^;]+; status must be [^;]+$/,
    );
  });
});

test('GET /pets returns a 503 with Retry-After if the database throttles the query', async () => {
  mock.on(QueryCommand).rejects(new ThrottlingException({ message: 'Slow down.', $metadata: {} }));
  const { status, headers, body } = await list();
  expect([status, headers['Retry-After'], body.code]).toEqual([503, '1', 'service_unavailable']);
  expect(occurrences()).toEqual(countedServerError('listPets', 'service_unavailable'));
});

test('GET /pets returns a 500 that does not contain the reason, which is logged', async () => {
  mock.on(QueryCommand).rejects(new Error('no access to the table'));
  const { status, body, text } = await list();
  expect([status, body.code]).toEqual([500, 'internal_error']);
  expect(text).not.toContain('table');
  expect(logLines()).toMatchObject([{ level: 'ERROR', error: { message: 'no access to the table' } }]);
});
