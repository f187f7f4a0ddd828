import { AbstractValueIterator } from 'abstract-level';
import { ClassicLevel } from 'classic-level';
import dynalite from 'dynalite';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import type { IsAllowed } from '../template/permissions.ts';
import { RunnerError } from '../runner-error.ts';
import { type Resource, tableArn } from '../template/template.ts';
// oxlint-disable-next-line import/no-unassigned-import
import './whole-writes.ts';

// dynalite 4.0.0 ends the iterator of a list by `return`, which those of abstract-level 3 do not have: without it
// every list would keep its iterator, and with that files and memory, for good.
Object.assign(AbstractValueIterator.prototype, {
  return(this: AbstractValueIterator<any, any, any>) {
    return this.close();
  },
});

/** Access key id of whoever is not one of the functions, and may do anything. */
export const operatorAccessKeyId = 'operator';

type Table = Resource<'AWS::DynamoDB::GlobalTable'>;

interface DatabaseOptions {
  /** Folder that keeps the tables; in memory without. */
  folder: string | undefined;
  tables: Table[];
  isAllowed: IsAllowed;
}

export interface Database {
  endpoint: string;
  close: () => Promise<void>;
}

/**
 * Runs the template's tables in dynalite, behind a guard that refuses what the caller's role does not permit, as
 * IAM would. The access key id tells who calls: each function has its logical id as one.
 */
export async function startDatabase({ folder, tables, isAllowed }: DatabaseOptions): Promise<Database> {
  if (folder) await (await claimStore(folder))();
  const engine = dynalite({ createTableMs: 0, ...(folder && { path: folder }) });
  const guard = createServer((request, response) => void answer(request, response, engine, isAllowed));
  guard.keepAliveTimeout = 60_000; // the SDK keeps its connections; the default closes them under its hands
  guard.listen(0, '127.0.0.1');
  await once(guard, 'listening');
  const endpoint = `http://127.0.0.1:${(guard.address() as AddressInfo).port}`;

  async function close(): Promise<void> {
    guard.closeAllConnections();
    guard.close();
    // dynalite closes its store when its server, which never listened, is closed.
    engine.listen(0, '127.0.0.1');
    await once(engine, 'listening');
    await new Promise((resolve) => engine.close(resolve));
  }

  try {
    for (const table of tables) await ensureTable(endpoint, table, folder);
  } catch (error) {
    await close();
    throw error;
  }
  return { endpoint, close };
}

/**
 * Opens the store of a data folder, and keeps it until it is released: dynalite opens it unawaited, and ends the process when
 * that fails.
 *
 * @throws RunnerError when it is in use or cannot be opened.
 */
export async function claimStore(folder: string): Promise<() => Promise<void>> {
  const store = new ClassicLevel(folder);
  try {
    await store.open();
    return () => store.close();
  } catch (error) {
    const { code, message } = (error as Error).cause as NodeJS.ErrnoException;
    throw new RunnerError(
      code === 'LEVEL_LOCKED'
        ? `The data in ${folder} is in use by another local service: end that one, or choose another folder with --data.`
        : `The data in ${folder} cannot be opened (${message}): choose another folder with --data.`,
    );
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  engine: Server,
  isAllowed: IsAllowed,
): Promise<void> {
  let body: Buffer;
  try {
    body = await buffer(request);
  } catch {
    return; // the caller went away; dynalite itself would end the process over it
  }
  const denial = findDenial(request.headers, body, isAllowed);
  if (denial) {
    response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
    response.end(
      JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', Message: denial }),
    );
    return;
  }
  const { method, url, headers } = request;
  engine.emit('request', Object.assign(Readable.from([body]), { method, url, headers }), response);
}

function findDenial(headers: IncomingHttpHeaders, body: Buffer, isAllowed: IsAllowed): string | undefined {
  const caller = /Credential=([^/,]+)\//.exec(headers.authorization ?? '')?.[1];
  if (caller === undefined) return 'The request is not signed in its Authorization header.';
  if (caller === operatorAccessKeyId) return undefined;

  const action = `dynamodb:${String(headers['x-amz-target']).split('.')[1]}`;
  const { TableName = '', IndexName } = readInput(body);
  const arn = IndexName ? `${tableArn(TableName)}/index/${IndexName}` : tableArn(TableName);
  return isAllowed(caller, action, arn)
    ? undefined
    : `${caller} is not authorized to perform ${action} on ${arn}.`;
}

/** What is not JSON names no table, and is refused like one that the caller may not touch. */
function readInput(body: Buffer): { TableName?: string; IndexName?: string } {
  try {
    return (JSON.parse(body.toString()) as object | null) ?? {};
  } catch {
    return {};
  }
}

async function ensureTable(
  endpoint: string,
  { logicalId, properties }: Table,
  folder = 'memory',
): Promise<void> {
  const { AttributeDefinitions, BillingMode, GlobalSecondaryIndexes, KeySchema } = properties;
  const wanted = {
    TableName: logicalId,
    AttributeDefinitions,
    BillingMode,
    KeySchema,
    ...(GlobalSecondaryIndexes.length > 0 && { GlobalSecondaryIndexes }),
  };
  const { Table: existing } = await call(endpoint, 'DescribeTable', { TableName: logicalId });
  if (!existing) {
    const { message } = await call(endpoint, 'CreateTable', wanted);
    if (message) throw new RunnerError(`The table ${logicalId} cannot be created: ${message}`);
    await untilActive(endpoint, logicalId);
    return;
  }
  if (existing.TableStatus !== 'ACTIVE') {
    throw new RunnerError(
      `The table ${logicalId} in ${folder} was never finished, so it is empty: remove this folder.`,
    );
  }
  if (shape(existing) !== shape(wanted)) {
    throw new RunnerError(
      `The table ${logicalId} stored in ${folder} has other keys or indexes than the template: choose another folder with --data, or remove this one.`,
    );
  }
}

async function untilActive(endpoint: string, tableName: string): Promise<void> {
  for (;;) {
    const { Table } = await call(endpoint, 'DescribeTable', { TableName: tableName });
    if (Table?.TableStatus !== 'CREATING') return;
    await setTimeout(1);
  }
}

/** What must not differ between a stored table and the template: keys with their types, and indexes by name. */
function shape({ AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] }: any): string {
  const types = new Map(AttributeDefinitions.map((one: any) => [one.AttributeName, one.AttributeType]));
  const keyOf = ({ IndexName = '', KeySchema: keySchema }: any): string =>
    [
      IndexName,
      ...keySchema.map((key: any) => [key.KeyType, key.AttributeName, types.get(key.AttributeName)]),
    ].join(' ');
  return [{ KeySchema }, ...GlobalSecondaryIndexes].map(keyOf).toSorted().join('; ');
}

async function call(endpoint: string, action: string, input: object): Promise<any> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `DynamoDB_20120810.${action}`,
      'X-Amz-Date': new Date().toISOString(),
      // dynalite wants a signature and does not verify it.
      Authorization: `AWS4-HMAC-SHA256 Credential=${operatorAccessKeyId}/local, SignedHeaders=host, Signature=none`,
    },
    body: JSON.stringify(input),
  });
  return response.json();
}
