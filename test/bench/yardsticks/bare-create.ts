import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';

const database = DynamoDBDocumentClient.from(new DynamoDBClient());

/** Stores a pet without validation. Makes one call, as in the SDK's documentation, or two with an Idempotency-Key. */
export async function handler({ headers, body }: APIGatewayProxyEvent): Promise<object> {
  const pet = { id: Date.now(), ...JSON.parse(body ?? '{}') };
  const token = headers['Idempotency-Key'];
  if (token)
    await putNew('Intents', 'token', { token, petId: pet.id, expiresAt: Date.now() / 1_000 + 86_400 });
  await putNew('Pets', 'id', pet);
  return { statusCode: 201, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(pet) };
}

function putNew(TableName: string, key: string, Item: object) {
  const ConditionExpression = `attribute_not_exists(${key})`;
  return database.send(new PutCommand({ TableName, Item, ConditionExpression }));
}

for (const event of JSON.parse(process.env['PRIMING_EVENTS'] ?? '[]')) await handler(event);
