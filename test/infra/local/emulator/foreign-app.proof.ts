import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { LambdaIntegration, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Code, Function, Runtime } from 'aws-cdk-lib/aws-lambda';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Emulator, startEmulator } from '../../../../infra/local/emulator/emulator.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

// This app has other routes, methods and tables than this project, and has no authorizer.

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

function addFunction(stack: Stack, id: string, file: string, source: string, TABLE?: string): Function {
  const asset = join(folder, id);
  mkdirSync(asset);
  writeFileSync(join(asset, file), source);
  return new Function(stack, id, {
    code: Code.fromAsset(asset),
    handler: 'main.handler',
    runtime: Runtime.NODEJS_24_X,
    ...(TABLE && { environment: { TABLE } }),
  });
}

/** Writes the assembly of an app with the stack Shop. */
function synthesize(): string {
  const outdir = join(folder, 'app');
  const app = new App({ outdir });
  const stack = new Stack(app, 'Shop');
  const table = new TableV2(stack, 'Orders', {
    partitionKey: { name: 'number', type: AttributeType.STRING },
    billing: Billing.onDemand(),
  });
  const orders = addFunction(stack, 'OrdersFunction', 'main.mjs', ORDERS, table.tableName);
  table.grantReadWriteData(orders);
  const api = new RestApi(stack, 'Api');
  const order = api.root.addResource('orders').addResource('{number}');
  for (const method of ['GET', 'PUT']) order.addMethod(method, new LambdaIntegration(orders));
  const echo = new LambdaIntegration(addFunction(stack, 'Echo', 'main.cjs', ECHO));
  api.root.addResource('files').addResource('{path+}').addMethod('PATCH', echo);
  app.synth();
  return outdir;
}

describe('a stack of another app', () => {
  let emulator: Emulator;
  let url: string;
  beforeAll(async () => {
    emulator = await startEmulator({ assembly: synthesize(), stackName: 'Shop' });
    url = `http://127.0.0.1:${await emulator.listen(0)}`;
  });
  afterAll(() => emulator.close());

  test('stores and returns items through its function', async () => {
    const put = await fetch(`${url}/orders/5`, { method: 'PUT', body: 'two books' });
    expect([put.status, await put.text()]).toEqual([204, '']);
    const found = await fetch(`${url}/orders/5`);
    expect([found.status, found.headers.get('Content-Type'), await found.text()]).toEqual([
      200,
      'text/plain',
      'two books',
    ]);
    expect((await fetch(`${url}/orders/6`)).status).toBe(404);
  });

  test('handles a method and a greedy path that this project does not have', async () => {
    const response = await fetch(`${url}/files/a/b%20c?x=1`, { method: 'PATCH' });
    expect(await response.json()).toEqual({ path: '/files/a/b%20c', queryStringParameters: { x: '1' } });
  });

  test("responds to an unknown path with API Gateway's default response", async () => {
    const response = await fetch(`${url}/files`);
    expect([response.status, await response.json()]).toEqual([
      403,
      { message: 'Missing Authentication Token' },
    ]);
  });
});
