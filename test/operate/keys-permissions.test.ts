import { afterAll, expect, test } from '@jest/globals';
import { operatorAccessKeyId, startDatabase } from '../../infra/local/emulator/dynamodb/dynamodb.ts';
import { openStore } from '../../infra/local/emulator/dynamodb/store.ts';
import { permits } from '../../infra/local/emulator/template/permissions.ts';
import { accountId, region } from '../../infra/local/emulator/template/intrinsics.ts';
import { listApiKeys } from '../../infra/operate/key-store.ts';
import { stackName } from '../../shared/names.ts';
import { type ApiKeyRecord, hashOf } from '../../shared/api-keys.ts';
import { database, readItem } from '../../shared/storage/database.ts';
import { startFakeAws } from './fake-aws.ts';
import { runInProcess } from './in-process.ts';
import { statementsOf } from './policies.ts';
import { done, type Outcome, errorOutput } from '../support/run-command.ts';
import { setFunctionsEnvironment, stagingTemplate } from '../support/real-database.ts';

// These tests run `npm run keys` with the policy in docs/policies/keys.json.

const caller = 'arn:aws:sts::000000000000:assumed-role/Operator/ada';
const policy: Record<'Action' | 'Resource', string[]>[] = statementsOf('keys').map(
  ({ Action, Resource }) => ({
    Action,
    Resource: Resource.map((arn: string) => arn.replace('REGION:ACCOUNT', `${region}:${accountId}`)),
  }),
);
/** Policy statements by access key id. READER has the two statements that docs/keys.md names for listing keys. */
const statementsByKey: Record<string, typeof policy> = {
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

/** Returns a table name in the format that CloudFormation generates. */
function tableName(logicalId: string): string {
  return `${stackName('staging')}-${logicalId}-1ABCDEFGHIJKL`;
}

function isAllowed(accessKeyId: string, action: string, resource: string): boolean {
  if (accessKeyId === operatorAccessKeyId) return true; // The test itself sends these requests.
  const allowed = permits(statementsByKey[accessKeyId]!, action, resource);
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

test('the first two statements of docs/policies/keys.json allow listing keys but not issuing keys', async () => {
  const before = await Array.fromAsync(listApiKeys(store));
  expect(JSON.parse(done(await keys('READER', ['list', '--json'])))).toHaveLength(before.length);
  expect(errorOutput(await keys('READER', ['issue', '--owner', 'Eve']))).toMatch(
    /^Your credentials are missing a permission\. See docs\/policies\/keys\.json\. .*dynamodb:PutItem/,
  );
  expect(await Array.fromAsync(listApiKeys(store))).toEqual(before);
});
