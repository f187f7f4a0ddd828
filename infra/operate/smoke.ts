import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCommand, UsageError } from './command.ts';
import { findCaller, findDeployedStage } from './deployed-stage.ts';
import { issueApiKey } from './keys/lifecycle.ts';

// `npm run smoke -- --stage staging`: the HTTP tests against a deployed stage. They leave their pets there.

const USAGE = `npm run smoke -- --stage staging|production [PATTERN ...]

  --stage  whose address the HTTP tests call; needs AWS credentials and the region of the stage
  PATTERN  runs only the test files whose path it matches, such as test/http/get-pet

The tests use the key in API_KEY, or one of their own that works for an hour.`;

const KEY_MILLISECONDS = 3_600_000;
const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

async function smoke(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { stage: { type: 'string' }, help: { type: 'boolean', default: false } },
  });
  if (values.help) return console.log(USAGE);

  const { stage } = values;
  if (stage !== 'staging' && stage !== 'production') {
    throw new UsageError('--stage must be staging or production.');
  }
  const { baseAddress, apiKeysTable } = await findDeployedStage(stage);
  const apiKey = process.env['API_KEY'] || (await issueShortLivedKey(stage, apiKeysTable));
  console.log(`The HTTP tests call ${baseAddress} …`);
  const patterns = positionals.map((pattern) => `--testPathPatterns=${pattern}`);
  const tests = spawn('npm', ['run', 'test:http', '--', ...patterns], {
    cwd: projectRoot,
    stdio: 'inherit',
    env: { ...process.env, BASE_URL: baseAddress, API_KEY: apiKey },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => tests.kill(signal));
  const [code] = (await once(tests, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}

async function issueShortLivedKey(stage: string, table: string): Promise<string> {
  const caller = await findCaller();
  const { key } = await issueApiKey(
    { stage, table },
    { owner: 'smoke test', lifetime: KEY_MILLISECONDS, caller },
  );
  return key;
}

await runCommand(smoke);
