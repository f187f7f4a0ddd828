import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ApiKeyRecord, generateApiKey } from '../../../shared/storage/api-keys.ts';
import { sharedSynthesis } from '../../support/assembly.ts';
import { type FakeAws, startFakeAws } from '../../support/fake-aws.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { done, refusal } from '../../support/outcomes.ts';
import { type Outcome, runModule } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function smoke(parameters: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  return runModule('infra/operate/smoke.ts', parameters, environment);
}

describe('the smoke test', () => {
  test('explains itself when asked', async () => {
    const stdout = done(await smoke(['--help']));
    expect(stdout).toMatch(/^npm run smoke -- --stage staging\|production/);
    expect(stdout).toMatch(/^ +--stage /m);
  });

  test.each([
    ['a missing stage', [], /^--stage must be staging or production\.$/],
    ['the local stage', ['--stage', 'local'], /^--stage must be staging or production\.$/],
    ['an unknown option', ['--stage', 'staging', '--forever'], /^Unknown option '--forever'/],
  ])('refuses %s in one sentence', async (_what, parameters, sentence) => {
    expect(refusal(await smoke(parameters))).toMatch(sentence);
  });
});

// The local service stands for the deployed stage: its address and table are the outputs of the stack.
describe('the smoke test of a stage', () => {
  const caller = 'arn:aws:sts::123456789012:assumed-role/Operator/ada';
  const data = temporaryFolder();
  let service: LocalService;
  let aws: FakeAws;
  let environment: Record<string, string>;
  let record: Record<'apiKeysTable' | 'databaseEndpoint' | 'region' | 'accessKeyId', string>;

  beforeAll(async () => {
    service = await startLocalService('--data', data, '--assembly', (await sharedSynthesis()).assembly);
    record = JSON.parse(readFileSync(join(data, 'service.json'), 'utf8'));
    aws = await startFakeAws({
      stacks: { 'PetStore-staging': { BaseAddress: service.baseAddress, ApiKeysTable: record.apiKeysTable } },
      caller,
    });
    environment = {
      ...aws.environment,
      AWS_ENDPOINT_URL_DYNAMODB: record.databaseEndpoint,
      AWS_REGION: record.region,
      AWS_ACCESS_KEY_ID: record.accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'local',
    };
  });
  afterAll(async () => {
    await service.stop();
    await aws.close();
  });

  describe('with a key of its own', () => {
    let outcome: Outcome;
    beforeAll(async () => {
      outcome = await smoke(['--stage', 'staging', 'test/http/get-pet.test.ts'], environment);
    });

    test('calls the address that the stack gives', () => {
      expect(aws.asked).toEqual(['DescribeStacks PetStore-staging', 'GetCallerIdentity']);
      expect(outcome.stdout).toContain(`The HTTP tests call ${service.baseAddress} …`);
      expect(service.output()).toMatch(/ GET +\/v1\/pets\/\d+ /);
    });

    test('succeeds when the tests that were asked for do', () => {
      expect(outcome.stderr).toMatch(/^PASS .*test\/http\/get-pet\.test\.ts/m);
      expect(outcome.stderr).toMatch(/^Test Suites: 1 passed, 1 total$/m);
      expect(outcome.code).toBe(0);
    });

    test('issues that key for an hour in the name of its caller, and prints it nowhere', async () => {
      const issued = (await keysIn(record)).filter(({ owner }) => owner === 'smoke test');
      expect(issued).toHaveLength(1);
      const { createdAt, createdBy, expiresAt, keyId, start } = issued[0]!;
      expect(createdBy).toEqual({ time: createdAt, caller, action: 'issue', keyId });
      const minutes = (Date.parse(expiresAt!) - Date.parse(createdAt)) / 60_000;
      expect(Math.round(minutes)).toBe(60);
      expect(start).toMatch(/^pets_staging_\w{4}$/);
      expect(outcome.stdout + outcome.stderr).not.toContain(start);
    });
  });

  describe('with the key in API_KEY, which the stage does not know', () => {
    const key = generateApiKey('staging');
    let outcome: Outcome;
    beforeAll(async () => {
      outcome = await smoke(['--stage', 'staging', 'test/http/get-pet.test.ts'], {
        ...environment,
        API_KEY: key,
      });
    });

    test('fails when a test does', () => {
      expect(outcome.stderr).toMatch(/^FAIL .*test\/http\/get-pet\.test\.ts/m);
      expect(outcome.code).toBe(1);
    });

    test('says nothing of its own about it', () => {
      expect(outcome.stderr).not.toMatch(/infra\/smoke\.ts|infra\/deployed-stage\.ts/);
    });

    test('issues no other', async () => {
      expect((await keysIn(record)).filter(({ owner }) => owner === 'smoke test')).toHaveLength(1);
    });

    test('prints it nowhere', () => {
      expect(outcome.stdout + outcome.stderr).not.toContain(key.slice(0, 'pets_staging_'.length + 4));
    });
  });
});

/** All that the local service keeps of keys. */
async function keysIn({
  apiKeysTable,
  databaseEndpoint,
  region,
  accessKeyId,
}: Record<string, string>): Promise<ApiKeyRecord[]> {
  const client = new DynamoDBClient({
    endpoint: databaseEndpoint!,
    region: region!,
    credentials: { accessKeyId: accessKeyId!, secretAccessKey: 'local' },
  });
  try {
    const { Items = [] } = await DynamoDBDocumentClient.from(client).send(
      new ScanCommand({ TableName: apiKeysTable }),
    );
    return Items as ApiKeyRecord[];
  } finally {
    client.destroy();
  }
}
