import { afterAll, describe, expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { LambdaIntegration, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Code, Function, Runtime } from 'aws-cdk-lib/aws-lambda';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmulator } from '../../../../infra/local/emulator/emulator.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

// The emulator must also run other apps. This app has different routes, methods and tables, and no authorizer.

const folder = temporaryFolder();

const ORDERS = `
import { DynamoDBClient } from '${import.meta.resolve('@aws-sdk/client-dynamodb')}';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '${import.meta.resolve('@aws-sdk/lib-dynamodb')}';
const database = DynamoDBDocumentClient.from(new DynamoDBClient());
const TableName = process.env.TABLE;
export async function handler({ httpMethod, pathParameters: { number }, body }) {
  if (httpMethod === 'PUT') {
    await database.send(new PutCommand({ TableName, Item: { number, order: body } }));
    return { statusCode: 204 };
  }
  const { Item } = await database.send(new GetCommand({ TableName, Key: { number } }));
  return { statusCode: Item ? 200 : 404, headers: { 'Content-Type': 'text/plain' }, body: Item?.order ?? '' };
}`;
const ECHO = `exports.handler = async ({ path, queryStringParameters }) => ({
  statusCode: 200, body: JSON.stringify({ path, queryStringParameters }),
});`;

function addFunction(id: string, file: string, source: string, TABLE = ''): Function {
  const asset = join(folder, id);
  mkdirSync(asset);
  writeFileSync(join(asset, file), source);
  return new Function(stack, id, {
    code: Code.fromAsset(asset),
    handler: 'main.handler',
    runtime: Runtime.NODEJS_24_X,
    environment: { TABLE },
  });
}

const app = new App({ outdir: join(folder, 'app') });
const stack = new Stack(app, 'Shop');
const table = new TableV2(stack, 'Orders', {
  partitionKey: { name: 'number', type: AttributeType.STRING },
  billing: Billing.onDemand(),
});
const orders = addFunction('OrdersFunction', 'main.mjs', ORDERS, table.tableName);
table.grantReadWriteData(orders);
const { root } = new RestApi(stack, 'Api');
const order = root.addResource('orders').addResource('{number}');
for (const method of ['GET', 'PUT']) order.addMethod(method, new LambdaIntegration(orders));
const echo = new LambdaIntegration(addFunction('Echo', 'main.cjs', ECHO));
root.addResource('files').addResource('{path+}').addMethod('PATCH', echo);

const emulator = await startEmulator({ assembly: app.synth().directory, stackName: 'Shop' });
const url = `http://127.0.0.1:${await emulator.listen(0)}`;
afterAll(() => emulator.close());

describe('a stack of another app', () => {
  test('stores and returns items through its function', async () => {
    const put = await fetch(`${url}/orders/5`, { method: 'PUT', body: 'two books' });
    expect([put.status, await put.text()]).toEqual([204, '']);
    const found = await fetch(`${url}/orders/5`);
    expect(found.headers.get('Content-Type')).toBe('text/plain');
    expect([found.status, await found.text()]).toEqual([200, 'two books']);
    expect((await fetch(`${url}/orders/6`)).status).toBe(404);
  });

  test('passes requests with the method PATCH and any path below /files to a function', async () => {
    const response = await fetch(`${url}/files/a/b%20c?x=1`, { method: 'PATCH' });
    expect(await response.json()).toEqual({ path: '/files/a/b%20c', queryStringParameters: { x: '1' } });
  });

  test("responds to an unknown path with API Gateway's default response", async () => {
    const response = await fetch(`${url}/files`);
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({ message: 'Missing Authentication Token' });
  });
});
