import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { operatorAccessKeyId } from '../../../../infra/local/dynamodb/dynamodb.ts';
import { region } from '../../../../infra/local/template/template.ts';
import { type IssuedKey, issueApiKey, listApiKeys } from '../../../../infra/operate/keys/lifecycle.ts';
import { writeLocalService } from '../../../../infra/operate/keys/local-service.ts';
import {
  type ApiKeyRecord,
  type AuditLine,
  type KeyStore,
  stateOf,
  verifyApiKey,
} from '../../../../shared/storage/api-keys.ts';
import { database, readItem } from '../../../../shared/storage/database.ts';
import type { Outcome } from '../../../support/run-command.ts';
import { runInProcess } from '../../../support/run-in-process.ts';
import { useRealTables } from '../../../support/tables-for-tests.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

export const caller = 'arn:aws:iam::123456789012:user/operator';
export const DAY = 86_400_000;
/** Matches an ISO 8601 time. */
export const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown as string;

/** The keys of the current test's own stage. */
export let store: KeyStore;
let stages = 0;
/** The data folder of a local service with these keys. */
export let dataFolder: string;

export function startStage(): void {
  stages += 1;
  store = { stage: `stage${stages}`, table: process.env['API_KEYS_TABLE']! };
  writeLocalService(dataFolder, {
    stage: store.stage,
    baseUrl: 'http://127.0.0.1:1/v1',
    apiKeysTable: store.table,
    databaseEndpoint: process.env['AWS_ENDPOINT_URL_DYNAMODB']!,
    region,
    accessKeyId: operatorAccessKeyId,
    operatorArn: caller,
  });
}

/** Runs `npm run keys` in the process of the test. */
export function keys(parameters: string[], options?: Parameters<typeof runInProcess>[2]): Promise<Outcome> {
  const local = ['--stage', 'local', '--data', dataFolder];
  return runInProcess('infra/operate/keys/main.ts', [...parameters, ...local], options);
}

/** Handles a request to the database instead of sending it. `execute` sends the request. `call` counts from 1. */
export type Interceptor = (call: number, execute: () => Promise<unknown>, input: any) => Promise<unknown>;
const interceptors = new AsyncLocalStorage<{ intercept: Interceptor; calls: number }>();

/** Creates tables for the tests of a file, with a separate stage for each test. */
export function useKeysInTables(): void {
  useRealTables();
  dataFolder = temporaryFolder();
  const send = database.send.bind(database);
  database.send = (async (command: any) => {
    const current = interceptors.getStore();
    const execute = () => send(command);
    if (!current) return execute();
    current.calls += 1;
    return current.intercept(current.calls, execute, command.input);
  }) as typeof database.send;
  beforeEach(startStage);
  afterEach(() => {
    jest.restoreAllMocks();
  });
}

/** Runs a function, with an interceptor for all of its database requests. */
export function via<Result>(intercept: Interceptor, run: () => Promise<Result>): Promise<Result> {
  return interceptors.run({ intercept, calls: 0 }, run);
}

/** Runs a function, with `act` in place of the database request with this number. */
export function replacing<Result>(
  replaced: number,
  act: (execute: () => Promise<unknown>, input: any) => Promise<unknown>,
  run: () => Promise<Result>,
): Promise<Result> {
  return via((call, execute, input) => (call === replaced ? act(execute, input) : execute()), run);
}

/** Runs a function without the current interceptor. */
export function aside<Result>(act: () => Promise<Result>): Promise<Result> {
  return interceptors.exit(act);
}

/** Stops the clock that determines key ids and expiry, and returns its time. */
export function stopClock(at = Date.now()): number {
  jest.spyOn(Date, 'now').mockReturnValue(at);
  return at;
}

export function issue(lifetime?: number, owner = 'Acme'): Promise<IssuedKey> {
  return issueApiKey(store, { owner, lifetime, caller });
}

export async function works(key: string, at?: Date): Promise<boolean> {
  return (await verifyApiKey(store, key, at)) !== undefined;
}

export function listed(): Promise<ApiKeyRecord[]> {
  return Array.fromAsync(listApiKeys(store));
}

/** Returns the sorted ids of the active keys. */
export async function active(): Promise<string[]> {
  const records = (await listed()).filter((record) => stateOf(record, new Date()) === 'active');
  return records.map(({ keyId }) => keyId).toSorted();
}

export async function stored({ hash }: Pick<ApiKeyRecord, 'hash'>): Promise<ApiKeyRecord> {
  return (await readItem<ApiKeyRecord>(store.table, { hash }))!;
}

export function auditLine(action: AuditLine['action'], keyId: string): AuditLine {
  return { time, caller, action, keyId };
}
