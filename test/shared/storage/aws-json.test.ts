import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, jest, test } from '@jest/globals';
import { database } from '../../../shared/storage/database.ts';
import { respondWith, nextResponses, received, respondWithError } from '../../support/fake-dynamodb.ts';

async function read(): Promise<unknown> {
  return database.send(new GetCommand({ TableName: 'pets', Key: { id: 1n } }));
}

const numbers = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n };
const stored = { minimum: { N: '-9223372036854775808' }, maximum: { N: '9223372036854775807' } };

test('numbers are read exactly over the full int64 range', async () => {
  nextResponses.push(respondWith(200, { Item: stored }));
  expect(await read()).toMatchObject({ Item: numbers });
});

test('requests contain exact numbers and no undefined properties', async () => {
  nextResponses.push(respondWith(200, {}));
  const Item = { ...numbers, status: undefined };
  await database.send(new PutCommand({ TableName: 'pets', Item }));
  expect(received[0]?.body.Item).toEqual(stored);
});

test('requests are identical to those of the unmodified SDK', async () => {
  const byDefault = DynamoDBDocumentClient.from(new DynamoDBClient());
  for (const client of [byDefault, database]) {
    nextResponses.push(respondWith(200, {}), respondWith(200, {}));
    await client.send(new GetCommand({ TableName: 'pets', Key: { id: 1n }, ConsistentRead: true }));
    await client.send(new PutCommand({ TableName: 'pets', Item: { ...numbers, tags: ['a', null] } }));
  }
  byDefault.destroy();
  const headers = ['host', 'content-type', 'content-length', 'x-amz-target'];
  const requests = received.map((request) => [request.body, headers.map((name) => request.headers[name])]);
  expect(requests.slice(2)).toEqual(requests.slice(0, 2));
});

test('an error has the name, message and metadata of the DynamoDB response', async () => {
  nextResponses.push(respondWithError(400, 'ResourceNotFoundException'));
  await expect(read()).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
    message: 'Why.',
    $fault: 'client',
    $metadata: { httpStatusCode: 400, requestId: 'VB2K', attempts: 1 },
  });
  nextResponses.push(
    respondWith(400, { __type: 'com.amazon.coral.service#UnrecognizedClientException', Message: 'Why.' }),
  );
  await expect(read()).rejects.toMatchObject({ name: 'UnrecognizedClientException', message: 'Why.' });
});

test('a wrong clock is corrected with the date in an error response', async () => {
  const Date = new globalThis.Date(globalThis.Date.now() + 3_600_000).toUTCString();
  const skewed = respondWithError(400, 'InvalidSignatureException', { Date });
  nextResponses.push(skewed, respondWith(200, {}));
  await read();
  const [first, second] = received.map(({ headers }) => String(headers['x-amz-date']).replace(/\D/g, ''));
  expect(Number(second) - Number(first)).toBeGreaterThan(5_000);
});

test('a retry waits as long as the database requests', async () => {
  const { setTimeout } = globalThis;
  const pauses: number[] = [];
  jest.spyOn(globalThis, 'setTimeout').mockImplementation((run, milliseconds = 0) => {
    const isPause = milliseconds > 4_000;
    if (isPause) pauses.push(milliseconds);
    return setTimeout(run, isPause ? 0 : milliseconds);
  });
  nextResponses.push(
    respondWithError(400, 'ThrottlingException', { 'x-amz-retry-after': '5000' }),
    respondWith(200, {}),
  );
  await read();
  expect(pauses).toEqual([expect.closeTo(5_000, -3)]);
});
