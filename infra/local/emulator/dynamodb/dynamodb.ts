import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { devNull } from 'node:os';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { EmulatorError } from '../errors.ts';
import type { OpenStore } from './store.ts';
import type { IsAllowed } from '../template/permissions.ts';
import { region, type Resource, tableArn } from '../template/template.ts';

/** Access key id of callers with all permissions. A function's access key id is its logical id. */
export const operatorAccessKeyId = 'operator';

type Table = Resource<'AWS::DynamoDB::GlobalTable'>;

export type Database = Awaited<ReturnType<typeof startDatabase>>;

/** Serves tables and denies requests that the role of the calling function does not permit. */
export async function startDatabase(store: OpenStore, tables: Table[], isAllowed: IsAllowed) {
  // The path is random so that programs with the address of a killed emulator cannot reach another one on its port.
  const path = `/${randomUUID()}`;
  const guard = createServer((request, response) => {
    if (request.url?.startsWith(path)) void handle(request, response, store, isAllowed);
    else response.writeHead(404).end();
  });
  guard.keepAliveTimeout = 60_000; // longer than the SDK keeps idle connections open
  guard.listen(0, '127.0.0.1');
  await once(guard, 'listening');
  const endpoint = `http://127.0.0.1:${(guard.address() as AddressInfo).port}${path}`;

  async function close(): Promise<void> {
    guard.closeAllConnections();
    guard.close();
    await store.close();
  }

  try {
    for (const table of tables) await ensureTable(endpoint, table);
  } catch (error) {
    await close();
    throw error;
  }
  return { endpoint, close };
}

/** Returns the environment variables that connect the SDK to the database and hide the developer's AWS settings. */
export function databaseEnvironment(endpoint: string, accessKeyId: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  store: OpenStore,
  isAllowed: IsAllowed,
): Promise<void> {
  let body: Buffer;
  try {
    body = await buffer(request);
  } catch {
    return; // The caller disconnected. An incomplete body would crash dynalite.
  }
  const Message = findDenial(request.headers, body, isAllowed);
  if (Message) {
    response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', Message }));
    return;
  }
  const { method, url, headers } = request;
  store.handle(Object.assign(Readable.from([body]), { method, url, headers }), response);
}

/** Returns the reason for a denial, or undefined if the request is allowed. */
function findDenial(headers: IncomingHttpHeaders, body: Buffer, isAllowed: IsAllowed): string | undefined {
  const caller = /Credential=([^/,]+)\//.exec(headers.authorization ?? '')?.[1];
  if (caller === undefined) return 'The Authorization header must contain a signature.';
  if (caller === operatorAccessKeyId) return undefined;

  const action = `dynamodb:${String(headers['x-amz-target']).split('.')[1]}`;
  const { TableName = '', IndexName } = readInput(body);
  const arn = IndexName ? `${tableArn(TableName)}/index/${IndexName}` : tableArn(TableName);
  return isAllowed(caller, action, arn)
    ? undefined
    : `${caller} is not authorized to perform ${action} on ${arn}.`;
}

/** Returns the parsed body, or an empty object for invalid JSON, so that no permission on a table applies. */
function readInput(body: Buffer): { TableName?: string; IndexName?: string } {
  try {
    return (JSON.parse(body.toString()) as object | null) ?? {};
  } catch {
    return {};
  }
}

/** @throws EmulatorError if the stored table is incomplete or differs from the template, or if it cannot be created. */
async function ensureTable(endpoint: string, { logicalId: TableName, properties }: Table): Promise<void> {
  const { GlobalSecondaryIndexes, ...others } = properties;
  const definition = {
    TableName,
    ...others,
    ...(GlobalSecondaryIndexes.length > 0 && { GlobalSecondaryIndexes }),
  };
  let { Table: stored } = await call(endpoint, 'DescribeTable', { TableName });
  if (!stored) {
    const { message } = await call(endpoint, 'CreateTable', definition);
    if (message) throw new EmulatorError('stack', `The table ${TableName} cannot be created: ${message}`);
    do ({ Table: stored } = await call(endpoint, 'DescribeTable', { TableName }));
    while (stored.TableStatus === 'CREATING');
  }
  if (stored.TableStatus === 'ACTIVE' && shape(stored) === shape(definition)) return;
  const reason = 'is incomplete, or its keys or indexes differ from the template';
  throw new EmulatorError('tables', `The stored table ${TableName} ${reason}.`);
}

/** Returns the table's keys and indexes as a string, so that two tables can be compared. */
function shape({
  AttributeDefinitions: types,
  KeySchema: key,
  GlobalSecondaryIndexes: all = [],
}: any): string {
  const indexes = all.map(({ IndexName, KeySchema }: any) => JSON.stringify([IndexName, KeySchema]));
  return JSON.stringify([types, key, indexes.toSorted()]);
}

async function call(endpoint: string, action: string, input: object): Promise<any> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `DynamoDB_20120810.${action}`,
      'X-Amz-Date': new Date().toISOString(),
      // dynalite requires a signature but does not verify it.
      Authorization: `AWS4-HMAC-SHA256 Credential=${operatorAccessKeyId}/local, SignedHeaders=host, Signature=none`,
    },
    body: JSON.stringify(input),
  });
  return response.json();
}
