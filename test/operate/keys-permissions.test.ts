import { afterAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { operatorAccessKeyId, startDatabase } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { openStore } from '../../infra/local/emulator/dynamodb/store.ts';
import { permits } from '../../infra/local/emulator/template/permissions.ts';
import { accountId, region } from '../../infra/local/emulator/template/intrinsics.ts';
import { listApiKeys } from '../../infra/operate/key-store.ts';
import { stackName } from '../../shared/names.ts';
import { type ApiKeyRecord, hashOf } from '../../shared/api-keys.ts';
import { database, readItem } from '../../shared/storage/database.ts';
import { blockWith } from '../support/markdown-code.ts';
import { startFakeAws } from './fake-aws.ts';
import { runInProcess } from './in-process.ts';
import { done, type Outcome, errorOutput } from '../support/run-command.ts';
import { setFunctionsEnvironment, stagingTemplate } from '../support/real-database.ts';

// These tests run `npm run keys` with the policies in docs/api-keys.md.

const caller = 'arn:aws:sts::000000000000:assumed-role/Operator/ada';
const policy = statementsIn(blockWith('IssueRotateAndRevokeKeys', readFileSync('docs/api-keys.md', 'utf8')));
/** Policy statements by access key id. READER has the two statements that docs/api-keys.md names for listing keys. */
const statementsOf: Record<string, typeof policy> = {
  OPERATOR: policy,
  READER: policy.slice(0, 2),
};
const usedActions = new Set<string>();

const template = await stagingTemplate();
const store = { stage: 'staging', table: tableName(template.outputs['ApiKeysTable']!.Value), database };
const renamed = template
  .resources('AWS::DynamoDB::GlobalTable')
  .map((table) => ({ ...table, logicalId: tableName(table.logicalId) }));
const tables = await startDatabase(await openStore(), renamed, isAllowed);
setFunctionsEnvironment(template, tables.endpoint);
const outputs = { BaseUrl: 'http://localhost/v1', ApiKeysTable: store.table };
const aws = await startFakeAws({
  outputs,
  caller,
  reject({ action, stackArn, accessKeyId }) {
    if (action === 'sts:GetCallerIdentity' || isAllowed(accessKeyId, action, stackArn)) return undefined;
    return { status: 403, code: 'AccessDenied', message: `${accessKeyId} cannot ${action}` };
  },
});
afterAll(async () => {
  database.destroy();
  await aws.close();
  await tables.close();
});

/** Returns the statements of a policy, with the region and account of the database emulator in each ARN. */
function statementsIn(json: string) {
  const here = json.replaceAll(/(arn:aws:\w+):[\w-]+:\w+:/g, `$1:${region}:${accountId}:`);
  const { Statement }: { Statement: Record<'Action' | 'Resource', string | string[]>[] } = JSON.parse(here);
  return Statement.map(({ Action, Resource }) => ({ Action: [Action].flat(), Resource: [Resource].flat() }));
}

/** Returns a table name in the format that CloudFormation generates. */
function tableName(logicalId: string): string {
  return `${stackName('staging')}-${logicalId}-1ABCDEFGHIJKL`;
}

function isAllowed(accessKeyId: string, action: string, resource: string): boolean {
  if (accessKeyId === operatorAccessKeyId) return true; // The test itself sends these requests.
  const allowed = permits(statementsOf[accessKeyId]!, action, resource);
  if (allowed) usedActions.add(action);
  return allowed;
}

function keys(AWS_ACCESS_KEY_ID: string, words: string[]): Promise<Outcome> {
  const environment = { ...aws.environment, AWS_ENDPOINT_URL_DYNAMODB: tables.endpoint, AWS_ACCESS_KEY_ID };
  return runInProcess('infra/operate/keys.ts', [...words, '--stage', 'staging'], { environment });
}

/** Returns the stored record of a key. */
function recordOf(key: string): Promise<ApiKeyRecord | undefined> {
  return readItem<ApiKeyRecord>(store.table, { hash: hashOf(key) });
}

test('the documented policy allows exactly the actions that issuing, rotating and revoking keys need', async () => {
  const issued = JSON.parse(done(await keys('OPERATOR', ['issue', '--owner', 'Acme', '--json'])));
  const { key: successor } = JSON.parse(done(await keys('OPERATOR', ['rotate', issued.keyId, '--json'])));
  const { keyId } = (await recordOf(successor))!;
  expect(await recordOf(issued.key)).toMatchObject({
    createdBy: { caller },
    successor: { keyId },
    rotatedBy: { caller },
  });

  done(await keys('OPERATOR', ['revoke', keyId, '--yes']));
  expect(await recordOf(successor)).toMatchObject({ revokedBy: { caller } });
  expect([...usedActions].toSorted()).toEqual(policy.flatMap(({ Action }) => Action).toSorted());
});

test('the first two statements of the documented policy allow listing keys but not issuing keys', async () => {
  const before = await Array.fromAsync(listApiKeys(store));
  expect(JSON.parse(done(await keys('READER', ['list', '--json'])))).toHaveLength(before.length);
  expect(errorOutput(await keys('READER', ['issue', '--owner', 'Eve']))).toMatch(
    /^Your credentials are missing a permission\. See "Permissions" in docs\/api-keys\.md\. .*dynamodb:PutItem/,
  );
  expect(await Array.fromAsync(listApiKeys(store))).toEqual(before);
});
