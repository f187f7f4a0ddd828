import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import {
  type Database,
  operatorAccessKeyId,
  startDatabase,
} from '../../../../infra/local/dynamodb/dynamodb.ts';
import { openStore } from '../../../../infra/local/dynamodb/store.ts';
import { readTemplate } from '../../../../infra/local/template/assembly.ts';
import { permits } from '../../../../infra/local/template/permissions.ts';
import { accountId, region } from '../../../../infra/local/template/template.ts';
import { listApiKeys } from '../../../../infra/operate/keys/lifecycle.ts';
import { type KeyStore, verifyApiKey } from '../../../../shared/storage/api-keys.ts';
import { database } from '../../../../shared/storage/database.ts';
import { sharedSynthesis } from '../../../support/assembly.ts';
import { type FakeAws, startFakeAws } from '../fake-aws.ts';
import { done, type Outcome, refusal, runModule } from '../../../support/run-command.ts';
import { setFunctionsEnvironment } from '../../../support/real-database.ts';

// `npm run keys` in processes of its own, on a deployed stage that enforces the policy in docs/api-keys.md. The tables are
// those of the template.

interface Statement {
  Action: string[];
  Resource: string[];
}

const caller = 'arn:aws:sts::000000000000:assumed-role/Operator/ada';
const policy = documentedPolicy();
/** By access key id. To list keys, the document says, the first two statements are enough. */
const statementsOf: Record<string, Statement[]> = { OPERATOR: policy, READER: policy.slice(0, 2) };
const usedActions = new Set<string>();

let store: KeyStore;
let tables: Database;
let aws: FakeAws;

beforeAll(async () => {
  const template = readTemplate('staging', (await sharedSynthesis()).assembly);
  store = { stage: 'staging', table: tableName(template.output('ApiKeysTable')) };
  tables = await startDatabase({
    store: await openStore(),
    tables: template
      .resources('AWS::DynamoDB::GlobalTable')
      .map(({ logicalId, properties }) => ({ logicalId: tableName(logicalId), properties })),
    isAllowed,
  });
  setFunctionsEnvironment(template, tables.endpoint);
  const outputs = { BaseAddress: 'http://127.0.0.1:1/v1', ApiKeysTable: store.table };
  aws = await startFakeAws({
    stacks: { 'PetStore-staging': outputs },
    caller,
    reject({ action, resource, accessKeyId }) {
      if (action === 'sts:GetCallerIdentity' || isAllowed(accessKeyId, action, resource)) return undefined;
      return { status: 403, code: 'AccessDenied', message: `${accessKeyId} may not ${action}` };
    },
  });
});
afterAll(async () => {
  database.destroy();
  await aws.close();
  await tables.close();
});

function documentedPolicy(): Statement[] {
  const document = readFileSync(new URL('../../../../docs/api-keys.md', import.meta.url), 'utf8');
  const json = /^## Permissions\n.*?```json aws\n(.*?)```/ms.exec(document)![1]!;
  const here = json.replaceAll(/(arn:aws:[a-z]+):[a-z0-9-]+:\d{12}:/g, `$1:${region}:${accountId}:`);
  return JSON.parse(here).Statement.map(({ Action, Resource }: any) => ({
    Action: [Action].flat(),
    Resource: [Resource],
  }));
}

/** Returns a name as CloudFormation generates it. */
function tableName(logicalId: string): string {
  return `PetStore-staging-${logicalId}-1ABCDEFGHIJKL`;
}

function isAllowed(accessKeyId: string, action: string, resource: string): boolean {
  if (accessKeyId === operatorAccessKeyId) return true; // the test itself
  const allowed = permits(statementsOf[accessKeyId]!, action, resource);
  if (allowed) usedActions.add(action);
  return allowed;
}

function keys(AWS_ACCESS_KEY_ID: string, parameters: string[], input?: string): Promise<Outcome> {
  const environment = {
    ...aws.environment,
    AWS_ENDPOINT_URL_DYNAMODB: tables.endpoint,
    AWS_ACCESS_KEY_ID,
  };
  return runModule('infra/operate/keys/main.ts', [...parameters, '--stage', 'staging'], environment, input);
}

test('the documented policy is enough for an operator to issue, rotate and revoke keys, and no larger', async () => {
  const issued = JSON.parse(done(await keys('OPERATOR', ['issue', '--owner', 'Acme', '--json'])));
  const successor = done(await keys('OPERATOR', ['rotate', issued.keyId, '--quiet'])).trim();
  const { keyId: id, start } = (await verifyApiKey(store, successor))!;
  expect(await verifyApiKey(store, issued.key)).toMatchObject({
    createdBy: { caller },
    successor: { keyId: id },
    rotatedBy: { caller },
  });

  const { code, stdout, stderr } = await keys('OPERATOR', ['revoke', id], 'y\n');
  expect({ code, stderr }).toEqual({ code: 0, stderr: `Revoke ${id} of Acme (${start}…)? [y/N] ` });
  const sentence = `^The key ${id} of Acme was revoked at \\S+ by ${caller}\\.\\n.* 60 seconds `;
  expect(stdout).toMatch(new RegExp(sentence));
  expect(await verifyApiKey(store, successor)).toBeUndefined();

  expect([...usedActions].toSorted()).toEqual(policy.flatMap(({ Action }) => Action).toSorted());
});

test('its first two statements are enough to list keys, but not to issue one', async () => {
  const before = await Array.fromAsync(listApiKeys(store));
  expect(JSON.parse(done(await keys('READER', ['list', '--json'])))).toHaveLength(before.length);
  expect(refusal(await keys('READER', ['issue', '--owner', 'Eve']))).toMatch(
    /^AWS does not allow this; ask for the policy in docs\/api-keys\.md, "Permissions": .*dynamodb:PutItem.*[^.]\.$/,
  );
  expect(await Array.fromAsync(listApiKeys(store))).toEqual(before);
});
