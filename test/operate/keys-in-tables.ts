import { afterAll, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import * as keyStore from '../../infra/operate/key-store.ts';
import { localOperator, writeLocalService } from '../../infra/local/local-service.ts';
import { type ApiKeyRecord, type AuditLine, type IssuedKey } from '../../shared/api-keys.ts';
import { database, readItem } from '../../shared/storage/database.ts';
import type { Outcome } from '../support/run-command.ts';
import { setFunctionsEnvironment, stagingTemplate, startTables } from '../support/real-database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runInProcess, type Settings } from './in-process.ts';

export const caller = localOperator;
export const DAY = 86_400_000;
/** Matches an ISO 8601 time. */
export const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown as string;

/** Key store of the current test, with a stage that no other test uses. */
export let store: keyStore.KeyStore;
let stages = 0;
/** Data folder that contains the connection data for `store`. */
const dataFolder = temporaryFolder();

/** Changes `store` to a new stage without keys, and restarts a stopped clock. */
export function startStage(): void {
  jest.restoreAllMocks();
  stages += 1;
  store = { stage: `stage${stages}`, table: process.env['API_KEYS_TABLE']!, database };
  writeLocalService(dataFolder, {
    stage: store.stage,
    baseUrl: 'http://localhost/v1',
    apiKeysTable: store.table,
    databaseEndpoint: process.env['AWS_ENDPOINT_URL_DYNAMODB']!,
  });
}

/** Options with which `npm run keys` manages the keys of `store`. */
export const localStage = ['--stage', 'local', '--data', dataFolder];
/** A developer's settings for other projects, which commands for a local service must ignore. */
export const otherSettings = {
  AWS_PROFILE: 'work',
  AWS_REGION: 'no region',
  AWS_SESSION_TOKEN: 'token',
  AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
  AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true',
  AWS_USE_FIPS_ENDPOINT: 'true',
  AWS_USE_DUALSTACK_ENDPOINT: 'true',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NODE_USE_ENV_PROXY: '1',
};

/** Runs `npm run keys` in this process with the options for the local service. */
export function keys(words: string[], settings: Settings = {}): Promise<Outcome> {
  return runInProcess('infra/operate/keys.ts', [...words, ...localStage], {
    environment: otherSettings,
    ...settings,
  });
}

/**
 * Creates tables for the tests in the calling file. Each test uses a separate stage in these tables. Disables
 * `setTimeout`, because a timeout on a busy machine would not indicate a fault of the commands.
 */
export function useKeysInTables(): void {
  let tables: Awaited<ReturnType<typeof startTables>>;
  beforeAll(async () => {
    const template = await stagingTemplate();
    tables = await startTables(template);
    setFunctionsEnvironment(template, tables.endpoint);
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'setImmediate', 'queueMicrotask'] });
  });
  afterAll(() => tables.close());
  beforeEach(startStage);
}

/** Sends the intercepted request to the database. */
type Execute = () => Promise<unknown>;

/** Returns a store whose client calls `intercept` instead of sending requests. `call` is 1 for the first request. */
export function via(
  intercept: (call: number, execute: Execute, input: any) => Promise<unknown>,
): keyStore.KeyStore {
  let calls = 0;
  const send = (command: any) => intercept((calls += 1), () => database.send(command), command.input);
  return { ...store, database: Object.assign(Object.create(database), { send }) };
}

/** Returns a store whose client calls `act` instead of sending the request with the number `at`. */
export function replacing(
  at: number,
  act: (execute: Execute, input: any) => Promise<unknown>,
): keyStore.KeyStore {
  return via((call, execute, input) => (call === at ? act(execute, input) : execute()));
}

/** Makes `Date.now` return the time `at`, which determines key ids and expiry dates. Returns this time. */
export function stopClock(at = Date.now()): number {
  jest.spyOn(Date, 'now').mockReturnValue(at);
  return at;
}

export function issue(lifetime?: number, owner = 'Acme'): Promise<IssuedKey> {
  return keyStore.issueApiKey(store, { owner, lifetime, caller });
}

/** Rotates a key and returns its successor. */
export async function rotate(old: IssuedKey, overlap = DAY, from = store): Promise<IssuedKey> {
  const predecessor = await keyStore.findRotatableKey(from, old.record.keyId);
  let shown: IssuedKey;
  await keyStore.rotateApiKey(from, predecessor, { overlap, caller }, async (successor) => {
    shown = successor;
  });
  return shown!;
}

export function listed(from = store): Promise<ApiKeyRecord[]> {
  return Array.fromAsync(keyStore.listApiKeys(from));
}

/** Returns the sorted ids of the keys that are not revoked. */
export async function notRevoked(): Promise<string[]> {
  const records = (await listed()).filter(({ revokedAt }) => revokedAt === undefined);
  return records.map(({ keyId }) => keyId).toSorted();
}

export async function stored({ hash }: Pick<ApiKeyRecord, 'hash'>): Promise<ApiKeyRecord> {
  return (await readItem<ApiKeyRecord>(store.table, { hash }))!;
}

export function auditLine(action: AuditLine['action'], keyId: string): AuditLine {
  return { time, caller, action, keyId };
}
