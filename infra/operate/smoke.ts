import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onInterrupt, runWithOptions } from './command.ts';
import { findCaller, findDeployedStage } from './deployed-stage.ts';
import { issueApiKey } from './keys/lifecycle.ts';

// `npm run smoke`: the HTTP tests against a deployed stage, which keeps the pets that they add.

const KEY_MILLISECONDS = 3_600_000;

const USAGE = `npm run smoke -- --stage STAGE [PATTERN ...]

  --stage  stage to test; needs AWS credentials and the stage's region
  PATTERN  runs only the test files whose path matches, such as test/http/get-pet

The tests use the API key in API_KEY, or a new one that expires after an hour.`;

async function smoke({ stage = '' }, patterns: string[]): Promise<void> {
  const { baseUrl, apiKeysTable } = await findDeployedStage(stage);
  const apiKey = process.env['API_KEY'] || (await issueShortLivedKey(stage, apiKeysTable));
  console.log(`The HTTP tests call ${baseUrl} …`);
  const parameters = patterns.map((pattern) => `--testPathPatterns=${pattern}`);
  // One file at a time: Lambda has few instances in a new account, and requests are throttled by method.
  const tests = spawn('npm', ['run', 'test:http', '--', '--runInBand', ...parameters], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: 'inherit',
    env: { ...process.env, BASE_URL: baseUrl, API_KEY: apiKey, PET_STORE_DEPLOYED: 'true' },
  });
  onInterrupt((signal) => tests.kill(signal));
  const [code] = (await once(tests, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
  console.log(`The stage ${stage} ${code === 0 ? 'passes' : 'does not pass'} the HTTP tests.`);
}

async function issueShortLivedKey(stage: string, table: string): Promise<string> {
  const newKey = { owner: 'smoke test', lifetime: KEY_MILLISECONDS, caller: await findCaller() };
  return (await issueApiKey({ stage, table }, newKey)).key;
}

await runWithOptions(USAGE, { stage: { type: 'string' } }, smoke, { allowPositionals: true });
