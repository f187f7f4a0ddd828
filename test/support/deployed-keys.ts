import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { type IssuedKey, issueApiKey, listApiKeys } from '../../infra/operate/keys/lifecycle.ts';
import { readTemplate } from '../../infra/local/template/assembly.ts';
import { type Database, operatorAccessKeyId, startDatabase } from '../../infra/local/dynamodb/dynamodb.ts';
import { openStore } from '../../infra/local/dynamodb/store.ts';
import { permits } from '../../infra/local/template/permissions.ts';
import { accountId, region } from '../../infra/local/template/template.ts';
import { type ApiKeyRecord, type KeyStore, verifyApiKey } from '../../shared/storage/api-keys.ts';
import { database } from '../../shared/storage/database.ts';
import { sharedSynthesis } from './assembly.ts';
import { type FakeAws, startFakeAws } from './fake-aws.ts';
import { type ChooseFault, startFaultProxy } from './fault-proxy.ts';
import { setFunctionsEnvironment } from './real-database.ts';
import { type Outcome, type RunningModule, startModule } from './run-command.ts';

// The command for keys on deployed stages: the tables of the template stand in memory behind a guard with the policy of the
// documentation, by access key id.

interface Statement {
  Action: string[];
  Resource: string[];
}

/** The policy that operators are told to ask for. */
const policy = documentedPolicy();
export const documentedActions: string[] = policy.flatMap(({ Action }) => Action);
/** Those of them that were needed so far. */
export const usedActions = new Set<string>();
/** Who only looks at the list needs no more than the first two statements, it says. */
const statementsOf: Record<string, Statement[]> = { AKIAOPERATOR: policy, AKIAREADER: policy.slice(0, 2) };

/** Who runs the command, by STS. */
export const caller = 'arn:aws:sts::000000000000:assumed-role/Operator/ada';

/** Of staging. */
export let store: KeyStore;
let tables: Database;
let aws: FakeAws;

/** Has the tests of the file run on stages of their own, staging and production, that are in one table. */
export function useDeployedKeys(): void {
  beforeAll(async () => {
    const template = readTemplate('staging', (await sharedSynthesis()).assembly);
    store = { stage: 'staging', table: nameOfTable(template.output('ApiKeysTable')) };
    tables = await startDatabase({
      store: await openStore(),
      tables: template
        .resources('AWS::DynamoDB::GlobalTable')
        .map(({ logicalId, properties }) => ({ logicalId: nameOfTable(logicalId), properties })),
      isAllowed: mayDo,
    });
    setFunctionsEnvironment(template, tables.endpoint);
    const outputs = { BaseAddress: 'http://127.0.0.1:1/v1', ApiKeysTable: store.table };
    aws = await startFakeAws({
      stacks: { 'PetStore-staging': outputs, 'PetStore-production': outputs },
      caller,
      refuse({ action, resource, accessKeyId }) {
        if (action.startsWith('sts:') || mayDo(accessKeyId, action, resource)) return undefined;
        return { status: 403, code: 'AccessDenied', message: `${accessKeyId} may not ${action}` };
      },
    });
  });
  afterAll(async () => {
    database.destroy();
    await aws.close();
    await tables.close();
  });
}

function documentedPolicy(): Statement[] {
  const chapters = readFileSync(new URL('../../docs/api-keys.md', import.meta.url), 'utf8').split(/^## /m);
  const chapter = chapters.find((one) => one.startsWith('Permissions\n'))!;
  const json = /```json\n(.*?)```/s.exec(chapter)![1]!;
  // Everything here is in one region and account.
  const { Statement } = JSON.parse(
    json.replaceAll(/(arn:aws:[a-z]+):[a-z0-9-]+:\d{12}:/g, `$1:${region}:${accountId}:`),
  );
  return Statement.map(({ Action, Resource }: any) => ({
    Action: [Action].flat(),
    Resource: [Resource].flat(),
  }));
}

/** As CloudFormation names the table: after its stack and logical id, with a suffix of its own. */
function nameOfTable(logicalId: string): string {
  return `PetStore-staging-${logicalId}-1ABCDEFGHIJKL`;
}

function mayDo(accessKeyId: string, action: string, resource: string): boolean {
  if (accessKeyId === operatorAccessKeyId) return true;
  const isAllowed = permits(statementsOf[accessKeyId]!, action, resource);
  if (isAllowed) usedActions.add(action);
  return isAllowed;
}

interface RunOptions {
  stage?: string;
  accessKeyId?: string;
  input?: string;
  environment?: Record<string, string>;
}

/** Starts the command, with the credentials of an operator of staging unless told otherwise. */
function start(
  parameters: string[],
  { stage = 'staging', accessKeyId = 'AKIAOPERATOR', input, environment }: RunOptions = {},
): RunningModule {
  const settings = {
    ...aws.environment,
    AWS_ENDPOINT_URL_DYNAMODB: tables.endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'secret',
    ...environment,
  };
  return startModule('infra/operate/keys/main.ts', [...parameters, '--stage', stage], settings, input);
}

export function run(...parameters: Parameters<typeof start>): Promise<Outcome> {
  return start(...parameters).ended;
}

/** Runs it as a program does whose output nobody reads. */
export function runUnread(...parameters: Parameters<typeof start>): Promise<Outcome> {
  const { process: child, ended } = start(...parameters);
  child.stdout!.destroy();
  return ended;
}

/**
 * Runs the command, and holds its call to the database that has these words, and any retry of it, for something to happen.
 *
 * @param act what happens. It may return a fault for the call, but not for a retry.
 */
export async function runHeld(
  parameters: string[],
  words: string,
  act: (running: RunningModule) => Promise<Awaited<ReturnType<ChooseFault>>>,
): Promise<Outcome> {
  let held: ReturnType<typeof act> | undefined;
  const proxy = await startFaultProxy(tables.endpoint, async (_call, read) => {
    if (!(await read()).includes(words)) return undefined;
    const isRetry = held !== undefined;
    held ??= act(running);
    const fault = await held;
    return isRetry ? undefined : fault;
  });
  const running = start(parameters, { environment: { AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint } });
  try {
    return await running.ended;
  } finally {
    await proxy.close();
  }
}

/** A key that was issued before, by somebody else. */
export function issued(owner: string, lifetime?: number): Promise<IssuedKey> {
  return issueApiKey(store, { owner, lifetime, caller: 'arn:aws:iam::000000000000:user/grace' });
}

/** The record of a key that works. */
export function working(key: string): Promise<ApiKeyRecord | undefined> {
  return verifyApiKey(store, key);
}

export async function listed(owner: string): Promise<ApiKeyRecord[]> {
  const all = await Array.fromAsync(listApiKeys(store));
  return all.filter((record) => record.owner === owner);
}

/** All that the table holds of an owner's keys, listed or not. */
export async function kept(owner: string): Promise<ApiKeyRecord[]> {
  const { Items = [] } = await database.send(
    new ScanCommand({
      TableName: store.table,
      FilterExpression: '#owner = :owner',
      ExpressionAttributeNames: { '#owner': 'owner' },
      ExpressionAttributeValues: { ':owner': owner },
    }),
  );
  return Items as ApiKeyRecord[];
}

/** Puts a record that the command would not make. */
export async function put(Item: ApiKeyRecord): Promise<void> {
  await database.send(new PutCommand({ TableName: store.table, Item }));
}

export function hoursBetween(begin: string, end: string | undefined): number {
  return Math.round((Date.parse(end!) - Date.parse(begin)) / 3_600_000);
}
