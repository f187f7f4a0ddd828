import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLocalService } from '../../../infra/operate/keys/local-service.ts';
import { generateApiKey } from '../../../shared/storage/api-keys.ts';
import { sharedSynthesis } from '../../support/assembly.ts';
import { type FakeAws, startFakeAws } from './fake-aws.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { done, refusal, runModule } from '../../support/run-command.ts';
import { runInProcess } from '../../support/run-in-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const command = 'infra/operate/smoke.ts';
const staging = ['--stage', 'staging'];
const folder = temporaryFolder();

test.each([
  ['a missing stage', [], /^--stage must be the name of a stage on AWS, .*\.$/],
  ['the local stage', ['--stage', 'local'], /^--stage must be the name of a stage on AWS, .*\.$/],
  ['an unknown option', [...staging, '--forever'], /^Unknown option '--forever'/],
])('the smoke test rejects %s in one sentence', async (_what, parameters, sentence) => {
  expect(refusal(await runInProcess(command, parameters))).toMatch(sentence);
});

// The local service stands for the deployed stage: its address and table are the outputs of the stack.
describe('the smoke test of a stage', () => {
  const caller = 'arn:aws:sts::123456789012:assumed-role/Operator/ada';
  let service: LocalService;
  let aws: FakeAws;
  let environment: Record<string, string>;

  beforeAll(async () => {
    const { assembly } = await sharedSynthesis();
    service = await startLocalService('--data', folder, '--assembly', assembly);
    const { apiKeysTable, databaseEndpoint, region, accessKeyId } = readLocalService(folder);
    aws = await startFakeAws({
      stacks: { 'PetStore-staging': { BaseAddress: service.baseAddress, ApiKeysTable: apiKeysTable } },
      caller,
    });
    environment = {
      ...aws.environment,
      AWS_ENDPOINT_URL_DYNAMODB: databaseEndpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'local',
    };
  });
  afterAll(async () => {
    await service.stop();
    await aws.close();
  });

  test('calls it with the key in API_KEY, if there is one, and fails as the tests do', async () => {
    const [npm, called] = [join(folder, 'npm'), join(folder, 'called')];
    writeFileSync(npm, `#!/bin/sh\necho "$BASE_URL $API_KEY $*" > ${called}\nexit 3\n`, { mode: 0o755 });
    const key = generateApiKey('staging');
    const outcome = await runInProcess(command, [...staging, 'some', 'tests'], {
      environment: { ...environment, API_KEY: key, PATH: `${folder}:${process.env['PATH']}` },
    });
    const stdout = `The HTTP tests call ${service.baseAddress} …\n`;
    expect(outcome).toEqual({ code: 3, stdout, stderr: '' });
    expect(readFileSync(called, 'utf8')).toBe(
      `${service.baseAddress} ${key} run test:http -- --testPathPatterns=some --testPathPatterns=tests\n`,
    );
  });

  test('calls it with a new key, which lasts an hour and is printed nowhere', async () => {
    const parameters = [...staging, 'test/http/get-pet.test.ts'];
    const { code, stdout, stderr } = await runModule(command, parameters, environment);
    expect(stderr).toMatch(/^PASS .*test\/http\/get-pet\.test\.ts/m);
    expect(stderr).toMatch(/^Test Suites: 1 passed, 1 total$/m);
    expect(code).toBe(0);
    expect(stdout).toContain(`The HTTP tests call ${service.baseAddress} …`);
    expect(service.output()).toMatch(/ GET +\/v1\/pets\/\d+ /);

    const list = ['list', ...staging, '--owner', 'smoke test', '--json'];
    const listed = await runInProcess('infra/operate/keys/main.ts', list, { environment });
    const [{ createdAt, createdBy, expiresAt, start }, ...others] = JSON.parse(done(listed));
    expect(createdBy).toMatchObject({ caller, action: 'issue' });
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(3_600_000);
    expect(stdout + stderr).not.toContain(start);
    expect(others).toEqual([]); // the key in API_KEY was enough
  });
});
