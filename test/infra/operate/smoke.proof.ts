import { expect, test } from '@jest/globals';
import { readTemplate } from '../../../infra/local/emulator/template/template.ts';
import { sharedSynthesis } from '../../support/assembly.ts';
import { awsRejections } from '../../support/aws-rejections.ts';
import { runModule } from '../../support/run-command.ts';
import { startStrictGateway } from '../../support/strict-gateway.ts';
import { startFakeAws } from './fake-aws.ts';

test('the smoke test passes despite throttling and error responses from AWS', async () => {
  const gateway = await startStrictGateway(
    readTemplate('PetStore-staging', (await sharedSynthesis()).assembly),
  );
  const outputs = { BaseUrl: gateway.baseUrl, ApiKeysTable: 'unused' };
  const aws = await startFakeAws({ stacks: { 'PetStore-staging': outputs } });
  const { code, stdout, stderr } = await runModule('infra/operate/smoke.ts', ['--stage', 'staging'], {
    ...aws.environment,
    API_KEY: gateway.apiKey,
  });
  await Promise.all([gateway.close(), aws.close()]);

  const summary = expect.stringMatching(/^Test Suites: (\d+) passed, \1 total$/m);
  expect({ code, stderr }).toEqual({ code: 0, stderr: summary });
  expect(stdout).toMatch(/^The stage staging passed the HTTP tests\.$/m);
  expect(gateway.rejected).toEqual(new Set(awsRejections));
  const { throttled, failed } = gateway.counts;
  expect(Math.min(throttled, failed)).toBeGreaterThan(0);
});
