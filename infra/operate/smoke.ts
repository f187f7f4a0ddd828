import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { database } from '../../shared/storage/database.ts';
import { onInterrupt, projectRoot, runWithOptions } from '../command.ts';
import { findCaller, findDeployedStage } from './deployed-stage.ts';
import { issueApiKey } from './keys/lifecycle.ts';

const USAGE = `npm run smoke -- --stage STAGE [PATTERN ...]

Runs the HTTP tests against a deployed stage. The pets that the tests create are not deleted.

  --stage  stage to test (requires AWS credentials, and the stage's region in AWS_REGION)
  PATTERN  runs only the test files whose path matches, for example test/http/get-pet

The tests use the API key in API_KEY. Without API_KEY, they use a new key that expires after 1 hour.`;

async function smoke({ stage = '' }, patterns: string[]): Promise<void> {
  const { baseUrl, apiKeysTable } = await findDeployedStage(stage);
  let apiKey = process.env['API_KEY'];
  if (!apiKey) {
    const newKey = { owner: 'smoke test', lifetime: 3_600_000, caller: await findCaller() };
    apiKey = (await issueApiKey({ stage, table: apiKeysTable, database }, newKey)).key;
  }
  console.log(`Running the HTTP tests against ${baseUrl} …`);
  const parameters = patterns.map((pattern) => `--testPathPatterns=${pattern}`);
  // The files run one at a time, because new accounts limit Lambda's concurrency and API Gateway throttles methods.
  const tests = spawn('npm', ['run', 'test:http', '--', '--runInBand', ...parameters], {
    cwd: projectRoot,
    stdio: 'inherit',
    env: { ...process.env, BASE_URL: baseUrl, API_KEY: apiKey, DEPLOYED_STAGE: 'true' },
  });
  onInterrupt((signal) => tests.kill(signal));
  const [code] = (await once(tests, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
  console.log(`The stage ${stage} ${code === 0 ? 'passed' : 'failed'} the HTTP tests.`);
}

await runWithOptions(USAGE, { stage: { type: 'string' } }, smoke, { allowPositionals: true });
