import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { database } from '../../../shared/storage/database.ts';
import { INT64 } from '../../../shared/contract/limits.ts';
import { nextResponses, received, respondWith } from './fake-dynamodb.ts';

test('requests have the same host, target, content headers and body as requests of the unmodified SDK', async () => {
  const byDefault = DynamoDBDocumentClient.from(new DynamoDBClient());
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
