import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

/** Stores an item without validation, with one database call as in the SDK's documentation. */
export async function handler({ body }: APIGatewayProxyEvent): Promise<object> {
  const Item = { id: Date.now(), ...JSON.parse(body ?? '{}') };
  const ConditionExpression = 'attribute_not_exists(id)';
  await database.send(new PutCommand({ TableName: 'Items', Item, ConditionExpression }));
  return { statusCode: 201, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(Item) };
}

for (const event of JSON.parse(process.env['PRIMING_EVENTS'] ?? '[]')) await handler(event);
