import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { type IssuedKey, issueApiKey, listApiKeys } from '../../infra/operate/keys/lifecycle.ts';
import { keyPrefix } from '../../shared/contract/authorization.ts';
import {
  type ApiKeyRecord,
  type AuditLine,
  hashOf,
  type KeyStore,
  verifyApiKey,
} from '../../shared/storage/api-keys.ts';
import { database, readItem } from '../../shared/storage/database.ts';
import { useRealTables } from './tables-for-tests.ts';

// For tests of what operators do to keys, in this process: any call to the tables may be watched, held, repeated or cut off.

export const caller = 'arn:aws:iam::123456789012:user/operator';
export const DAY_MILLISECONDS = 86_400_000;
/** Matches a time. */
export const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown as string;

/** The keys of a stage of its own for each test. */
export let store: KeyStore;
let stages = 0;

export function startStage(): void {
  stages += 1;
  store = { stage: `stage${stages}`, table: process.env['API_KEYS_TABLE']! };
}

/** Takes a call to the database, by its number counted from 1, and may execute it. */
export type Way = (call: number, execute: () => Promise<unknown>, command: any) => Promise<unknown>;
const ways = new AsyncLocalStorage<{ way: Way; calls: number } | undefined>();
const send = database.send.bind(database);

/** Has the tests of the file run on tables, each in a stage of its own. */
export function useKeysInTables(): void {
  useRealTables();
  beforeEach(() => {
    startStage();
    database.send = (async (command: any) => {
      const current = ways.getStore();
      const execute = () => send(command);
      if (!current) return execute();
      current.calls += 1;
      return current.way(current.calls, execute, command);
    }) as typeof database.send;
  });
  afterEach(() => {
    database.send = send;
    jest.restoreAllMocks();
  });
}

/** Runs something whose own calls to the database all go this way. */
export function via<Result>(way: Way, run: () => Promise<Result>): Promise<Result> {
  return ways.run({ way, calls: 0 }, run);
}

/** Runs something, and does this in place of its calls of one kind. */
export function replacing<Result>(
  kind: new (...parameters: any[]) => { input: any },
  act: (execute: () => Promise<unknown>, input: any) => Promise<unknown>,
  run: () => Promise<Result>,
): Promise<Result> {
  return via(
    (_call, execute, command) => (command instanceof kind ? act(execute, command.input) : execute()),
    run,
  );
}

/** Does something by calls of which no way knows. */
export function aside<Result>(act: () => Promise<Result>): Promise<Result> {
  return ways.exit(act);
}

export const cutOff = new Error('The command ended here.');

/** Retries each call, as if its first response was lost. */
export const twice: Way = async (_call, execute) => {
  await execute().catch(() => {});
  return execute();
};

/** Stops the clock by which keys get their ends and ids; gives its time. */
export function stopClock(at = Date.now()): number {
  jest.spyOn(Date, 'now').mockReturnValue(at);
  return at;
}

export function issue(lifetime?: number): Promise<IssuedKey> {
  return issueApiKey(store, { owner: 'Acme', lifetime, caller });
}

export async function works(key: string, at?: Date): Promise<boolean> {
  return aside(async () => (await verifyApiKey(store, key, at)) !== undefined);
}

export function listed(): Promise<ApiKeyRecord[]> {
  return aside(() => Array.fromAsync(listApiKeys(store)));
}

export async function stored({ hash }: Pick<ApiKeyRecord, 'hash'>): Promise<ApiKeyRecord> {
  return (await aside(() => readItem<ApiKeyRecord>(store.table, { hash })))!;
}

/** The audit line of what a test did. */
export function auditLine(action: AuditLine['action'], keyId: string): AuditLine {
  return { time, caller, action, keyId };
}

/** The record of a key that nothing was done to since it was made. */
export function expectedRecord(
  { key, record: { keyId, createdBy } }: IssuedKey,
  action: AuditLine['action'],
): ApiKeyRecord {
  return {
    hash: hashOf(key),
    keyId: expect.stringMatching(/^key_[0-9a-f]{20}$/) as unknown as string,
    stage: store.stage,
    owner: 'Acme',
    start: key.slice(0, keyPrefix(store.stage).length + 4),
    createdAt: createdBy!.time,
    createdBy: auditLine(action, keyId),
  };
}
