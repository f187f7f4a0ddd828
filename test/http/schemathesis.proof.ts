import { describe, expect, test } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { PROOF_LIMIT_MILLISECONDS } from '../support/limits.ts';
import { startLocalService } from '../support/local-service.ts';
import { outcomeOf } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// https://schemathesis.readthedocs.io
const isInstalled = spawnSync('schemathesis', ['--version']).status === 0;
if (!isInstalled && process.env['CI'] === 'true')
  throw new Error(
    'Schemathesis is not installed. Run pip install --require-hashes --requirement test/tools/requirements.txt.',
  );

const folder = temporaryFolder();

(isInstalled ? describe : describe.skip)('with Schemathesis,', () => {
  test('the responses to requests generated from openapi.json are as documented', async () => {
    const service = await startLocalService();
    const config = resolve('test/http/schemathesis.toml');
    const parameters = ['--config-file', config, 'run', resolve('openapi.json'), '--url', service.baseUrl];
    const running = promisify(execFile)('schemathesis', parameters, {
      cwd: folder,
      env: { ...process.env, API_KEY: service.apiKey },
      maxBuffer: Infinity,
      timeout: PROOF_LIMIT_MILLISECONDS,
    });
    const { code, stdout, stderr } = await outcomeOf(running);
    await service.stop();
    // The expectation contains the report, so that Jest prints it if Schemathesis found errors.
    expect({ code, report: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, report: '' });
  });
});
