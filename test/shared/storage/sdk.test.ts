import * as dynamodb from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, expect, jest, test } from '@jest/globals';
import { createClient, database, isUnavailable } from '../../../shared/storage/database.ts';
import { INT64 } from '../../../shared/contract/limits.ts';
import { nextResponses, received, respondWith, respondWithError } from './fake-dynamodb.ts';

afterEach(() => void jest.restoreAllMocks());

const names = Object.entries<any>(dynamodb)
  .filter(([, one]) => one?.prototype instanceof dynamodb.DynamoDBServiceException)
  .map(([name]) => name);

// The SDK recognizes errors that it can retry by their name or status, or by a mark in DynamoDB's model. The settings in
// shared/storage/sdk.ts replace the model, so they must mark the same errors.
test.each(names)(
  'the error %s is retried, and becomes a 503, if and only if the unmodified SDK retries it',
  async (name) => {
    jest.spyOn(Math, 'random').mockReturnValue(0); // The SDK then does not pause.
    const byDefault = new dynamodb.DynamoDBClient({ maxAttempts: 3 });
    const outcomes: object[] = [];
    for (const client of [byDefault, createClient()]) {
      const response = respondWithError(400, name);
      nextResponses.push(response, response, response);
      const call = client.send(new dynamodb.GetItemCommand({ TableName: 'books', Key: { id: { N: '1' } } }));
      const error: any = await call.catch((caught: unknown) => caught);
      outcomes.push({
        name: error.name,
        attempts: error.$metadata.attempts,
        isUnavailable: isUnavailable(error),
      });
      nextResponses.length = 0;
    }
    const [{ attempts }, ours] = outcomes as [{ attempts: number }, object];
    expect(ours).toEqual({ name, attempts, isUnavailable: attempts > 1 });
    byDefault.destroy();
  },
);

test('an error whose type is a megabyte long is not retried', async () => {
  const name = 'a'.repeat(1_000_000);
  nextResponses.push(respondWith(400, { __type: name }));
  const call = database.send(new PutCommand({ TableName: 'books', Item: { id: 1n } }));
  expect(await call.catch((error: Error) => error.name === name)).toBe(true);
});

test('a conflict in a global table is retried', async () => {
  nextResponses.push(respondWithError(400, 'ReplicatedWriteConflictException'), respondWith(200, {}));
  await database.send(new PutCommand({ TableName: 'books', Item: { id: 1n } }));
  expect(received).toHaveLength(2);
});

test('requests have the same host, target, content headers and body as requests of the unmodified SDK', async () => {
  const byDefault = DynamoDBDocumentClient.from(new dynamodb.DynamoDBClient());
  for (const client of [byDefault, database]) {
    nextResponses.push(respondWith(200, {}), respondWith(200, {}));
    await client.send(new GetCommand({ TableName: 'books', Key: { id: 1n }, ConsistentRead: true }));
    await client.send(
      new PutCommand({ TableName: 'books', Item: { ...INT64, tags: ['a', null], status: undefined } }),
    );
  }
  byDefault.destroy();
  const headers = ['host', 'content-type', 'content-length', 'x-amz-target'];
  const requests = received.map((request) => [request.body, headers.map((name) => request.headers[name])]);
  expect(requests.slice(2)).toEqual(requests.slice(0, 2));
});
