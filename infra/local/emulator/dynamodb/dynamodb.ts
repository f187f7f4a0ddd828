import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { devNull } from 'node:os';
import { json } from 'node:stream/consumers';
import { listenOnLoopback } from '../loopback.ts';
import type { OpenStore, Table } from './store.ts';
import type { IsAllowed } from '../template/permissions.ts';
import { region, tableArn } from '../template/intrinsics.ts';

/** Access key id of callers with all permissions. A function's access key id is its logical id. */
export const operatorAccessKeyId = 'operator';

/** Parts of a request's input that determine which tables and indexes the request uses. */
interface Input {
  TableName?: string;
  IndexName?: string;
  /** Requests of a batch by table name. */
  RequestItems?: Record<string, unknown>;
}

export type Database = Awaited<ReturnType<typeof startDatabase>>;

/**
 * Serves tables and denies requests that the calling function's role does not permit. `close` leaves the store open,
 * because the caller has opened it.
 *
 * @throws EmulatorError if a stored table differs from the template, or if the machine has no loopback address.
 */
export async function startDatabase(store: OpenStore, tables: Table[], isAllowed: IsAllowed) {
  for (const table of tables) await store.ensureTable(table);
  // A random path prevents programs that use a killed emulator's URL from reaching a new emulator on the same port.
  const path = `/${randomUUID()}`;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!request.url?.startsWith(path)) {
      response.writeHead(404).end();
      return;
    }
    // An incomplete body or the JSON text `null` would crash dynalite, so dynalite gets `{}`, which it rejects.
    const body = await json(request).catch(() => null);
    const input: Input = body ?? {};
    const caller = callerOf(request);
    const action = `dynamodb:${String(request.headers['x-amz-target']).split('.')[1]}`;
    const arns = arnsIn(input);
    const isPermitted =
      caller === operatorAccessKeyId || (caller && arns.every((arn) => isAllowed(caller, action, arn)));
    if (isPermitted) return store.handle(request, input, response);
    deny(
      response,
      `${caller || 'An unsigned caller'} is not authorized to perform ${action} on ${arns.join()}.`,
    );
  }

  const server = createServer(handle);
  server.keepAliveTimeout = 60_000; // The SDK must close idle connections first, so that no request meets a closed one.
  const origin = await listenOnLoopback(server);
  return {
    endpoint: `${origin}${path}`,
    close: (): Promise<void> => {
      server.closeAllConnections();
      return server[Symbol.asyncDispose]();
    },
  };
}

/** Returns the access key id that signed the request, or an empty string. The signature is not verified. */
function callerOf({ headers }: IncomingMessage): string {
  return /Credential=(\w+)\//.exec(headers.authorization ?? '')?.[1] ?? '';
}

/** Returns the ARNs of the index or the tables that the request uses. */
function arnsIn({ TableName = '', IndexName, RequestItems }: Input): string[] {
  if (RequestItems) return Object.keys(RequestItems).map(tableArn);
  return [IndexName ? `${tableArn(TableName)}/index/${IndexName}` : tableArn(TableName)];
}

function deny(response: ServerResponse, message: string): void {
  const type = 'com.amazon.coral.service#AccessDeniedException';
  response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify({ __type: type, Message: message }));
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
