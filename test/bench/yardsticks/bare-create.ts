import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

/** Stores a pet as the documentation of the SDK would: one call, nothing checked, nothing hidden. */
export async function handler({ body }: Pick<APIGatewayProxyEvent, 'body'>): Promise<object> {
  const pet = { id: Date.now(), ...JSON.parse(body ?? '{}') };
  await database.send(
    new PutCommand({
      TableName: process.env['PETS_TABLE'],
      Item: pet,
      ConditionExpression: 'attribute_not_exists(id)',
    }),
  );
  return { statusCode: 201, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(pet) };
}
