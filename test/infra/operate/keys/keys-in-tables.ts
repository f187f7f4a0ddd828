import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { operatorAccessKeyId } from '../../../../infra/local/emulator/dynamodb/dynamodb.ts';
import { region } from '../../../../infra/local/emulator/template/template.ts';
import { issueApiKey, listApiKeys } from '../../../../infra/operate/keys/lifecycle.ts';
import { writeLocalService } from '../../../../infra/local/local-service.ts';
import {
  type ApiKeyRecord,
  type AuditLine,
  type IssuedKey,
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

/** Key store of the current test, with a stage that no other test uses. */
export let store: KeyStore;
let stages = 0;
/** Data folder that contains the connection data for `store`. */
export let dataFolder: string;

export function startStage(): void {
  stages += 1;
  store = { stage: `stage${stages}`, table: process.env['API_KEYS_TABLE']!, database };
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

/** Settings of a developer for other projects, which must not affect commands for a local service. */
const developerSettings = {
  AWS_PROFILE: 'work',
  AWS_REGION: 'no region',
  AWS_SESSION_TOKEN: 'token',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
  AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true',
  AWS_USE_FIPS_ENDPOINT: 'true',
  AWS_USE_DUALSTACK_ENDPOINT: 'true',
};

/** Runs `npm run keys` in the test's process. */
export function keys(parameters: string[], options?: Parameters<typeof runInProcess>[2]): Promise<Outcome> {
  const local = ['--stage', 'local', '--data', dataFolder];
  return runInProcess('infra/operate/keys/main.ts', [...parameters, ...local], {
    environment: developerSettings,
    ...options,
  });
}

/** Function that replaces database request number `call`, starting at 1. `execute` sends the request. */
export type Interceptor = (call: number, execute: () => Promise<unknown>, input: any) => Promise<unknown>;
const interceptors = new AsyncLocalStorage<{ intercept: Interceptor; calls: number }>();

/** Creates tables for the tests in a file. Each test uses a separate stage in these tables. */
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

/** Runs `run`, and calls `intercept` in place of each database request. */
export function via<Result>(intercept: Interceptor, run: () => Promise<Result>): Promise<Result> {
  return interceptors.run({ intercept, calls: 0 }, run);
}

/** Runs `run`, and calls `act` in place of database request number `replaced`. */
export function replacing<Result>(
  replaced: number,
  act: (execute: () => Promise<unknown>, input: any) => Promise<unknown>,
  run: () => Promise<Result>,
): Promise<Result> {
  return via((call, execute, input) => (call === replaced ? act(execute, input) : execute()), run);
}

/** Runs `act` without the current interceptor. */
export function aside<Result>(act: () => Promise<Result>): Promise<Result> {
  return interceptors.exit(act);
}

/** Stops the clock for key ids and expiry at the time `at`, and returns this time. */
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
