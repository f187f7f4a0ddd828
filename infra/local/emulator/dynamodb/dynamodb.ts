import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { devNull } from 'node:os';
import { json } from 'node:stream/consumers';
import type { OpenStore, Table } from './store.ts';
import type { IsAllowed } from '../template/permissions.ts';
import { region, tableArn } from '../template/template.ts';

/** Access key id of callers with all permissions. A function's access key id is its logical id. */
export const operatorAccessKeyId = 'operator';

export type Database = Awaited<ReturnType<typeof startDatabase>>;

/**
 * Serves tables and denies requests that the calling function's role does not permit. `close` leaves the store open.
 *
 * @throws EmulatorError if a stored table differs from the template.
 */
export async function startDatabase(store: OpenStore, tables: Table[], isAllowed: IsAllowed) {
  for (const table of tables) await store.ensureTable(table);
  // A random path prevents programs that use a killed emulator's URL from reaching a new emulator on the same port.
  const path = `/${randomUUID()}`;
  const guard = createServer(async (request, response) => {
    if (!request.url?.startsWith(path)) return response.writeHead(404).end();
    // An incomplete body or the JSON text `null` would crash dynalite, so dynalite gets `{}`, which it rejects.
    const input: any = (await json(request).catch(() => null)) ?? {};
    const [, caller = ''] = /Credential=(\w+)\//.exec(request.headers.authorization ?? '') ?? [];
    const action = `dynamodb:${String(request.headers['x-amz-target']).split('.')[1]}`;
    const { TableName = '', IndexName, RequestItems = { [TableName]: {} } } = input;
    const index = IndexName ? `/index/${IndexName}` : '';
    const arns = Object.keys(RequestItems).map((name) => tableArn(name + index));
    const isPermitted = caller === operatorAccessKeyId || arns.every((arn) => isAllowed(caller, action, arn));
    if (caller && isPermitted) return store.handle(request, input, response);
    const Message = `${caller || 'An unsigned caller'} is not authorized to perform ${action} on ${arns.join()}.`;
    response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', Message }));
  });
  guard.keepAliveTimeout = 60_000; // longer than the SDK keeps idle connections open
  await once(guard.listen(0, '127.0.0.1'), 'listening');
  return {
    endpoint: `http://127.0.0.1:${(guard.address() as AddressInfo).port}${path}`,
    close: (): Promise<void> => {
      guard.closeAllConnections();
      return guard[Symbol.asyncDispose]();
    },
  };
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
