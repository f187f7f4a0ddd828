import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listApiKeys } from '../../../infra/operate/keys/lifecycle.ts';
import { stackName } from '../../../shared/names.ts';
import { generateApiKey, verifyApiKey } from '../../../shared/storage/api-keys.ts';
import { database } from '../../../shared/storage/database.ts';
import { errorOutput } from '../../support/run-command.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { useRealTables } from '../../support/tables-for-tests.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type FakeAws, startFakeAws } from './fake-aws.ts';

const command = 'infra/operate/smoke.ts';
const staging = ['--stage', 'staging'];
const folder = temporaryFolder();

test.each(['', 'local', generateApiKey('staging')])('the smoke test rejects the stage %j', async (stage) => {
  const line = errorOutput(await runInProcess(command, ['--stage', stage]));
  expect(line).toMatch(/^--stage must be .*lowercase letters\)\.$/);
});

// These tests replace npm with a stub. smoke.proof.ts runs the actual HTTP tests.
describe('the smoke test of a stage', () => {
  const baseUrl = 'https://example.com/v1';
  const caller = 'arn:aws:sts::123456789012:assumed-role/Operator/ada';
  const [npm, called] = [join(folder, 'npm'), join(folder, 'called')];
  let aws: FakeAws;

  useRealTables();
  beforeAll(async () => {
    const outputs = { BaseUrl: baseUrl, ApiKeysTable: process.env['API_KEYS_TABLE']! };
    aws = await startFakeAws({ stacks: { [stackName('staging')]: outputs }, caller });
  });
  afterAll(() => aws.close());

  /** Runs the smoke test with a stub of npm that writes its arguments to a file and fails. */
  function smoke(parameters: string[], API_KEY = '') {
    const line = '"$DEPLOYED_STAGE $BASE_URL $API_KEY $*"';
    writeFileSync(npm, `#!/bin/sh\necho ${line} > ${called}\nexit 3\n`, { mode: 0o755 });
    const { AWS_ENDPOINT_URL_DYNAMODB = '', PATH } = process.env;
    const variables = { AWS_ENDPOINT_URL_DYNAMODB, API_KEY, PATH: `${folder}:${PATH}` };
    const environment = { ...aws.environment, ...variables };
    return runInProcess(command, [...staging, ...parameters], { environment });
  }

  test('runs one file at a time with the key in API_KEY', async () => {
    const key = generateApiKey('staging');
    expect(await smoke(['some', 'tests'], key)).toEqual({
      code: 3,
      stdout: `Running the HTTP tests against ${baseUrl} …\nThe stage staging failed the HTTP tests.\n`,
      stderr: '',
    });
    const patterns = '--testPathPatterns=some --testPathPatterns=tests';
    expect(readFileSync(called, 'utf8')).toBe(
      `true ${baseUrl} ${key} run test:http -- --runInBand ${patterns}\n`,
    );
  });

  test('uses a new key that expires after 1 hour if API_KEY is not set', async () => {
    const outcome = await smoke([]);
    expect(outcome).toMatchObject({ code: 3, stderr: '' });
    const [, , key = ''] = readFileSync(called, 'utf8').split(' ');
    expect(outcome.stdout).not.toContain(key);
    const store = { stage: 'staging', table: process.env['API_KEYS_TABLE']!, database };
    const issued = await verifyApiKey(store, key);
    expect(issued).toMatchObject({ owner: 'smoke test', createdBy: { caller, action: 'issue' } });
    expect(Date.parse(issued!.expiresAt!) - Date.parse(issued!.createdAt)).toBe(3_600_000);
    // The list contains only this key, because the smoke test with API_KEY issued no key.
    expect(await Array.fromAsync(listApiKeys(store))).toEqual([issued]);
  });
});
