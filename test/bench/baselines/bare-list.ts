import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

/** Lists a page of items without validation, with one database call as in the SDK's documentation. */
export async function handler(): Promise<object> {
  const { Items } = await database.send(
    new QueryCommand({
      TableName: 'Items',
      IndexName: 'newest',
      KeyConditionExpression: '#key = :key',
      ExpressionAttributeNames: { '#key': 'list' },
      ExpressionAttributeValues: { ':key': 'all' },
      ScanIndexForward: false,
      Limit: 20,
    }),
  );
  return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(Items) };
}

for (const _ of JSON.parse(process.env['PRIMING_EVENTS'] ?? '[]')) await handler();
