import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collections } from '../../shared/contract/operations.ts';
import { connect } from '../../shared/storage/database.ts';
import {
  deployedStageOption,
  onInterrupt,
  type OptionValues,
  projectRoot,
  runWithOptions,
  UsageError,
} from '../command.ts';
import { stages } from '../stages.ts';
import { requireBaseUrl, requireService } from './base-url.ts';
import { findCaller, findDeployedStage } from './deployed-stage.ts';
import { issueApiKey, type KeyStore, revokeApiKey } from './key-store.ts';
import { httpsAgent } from '../proxy.ts';
import { readOnlyTest, type TestedStage } from './read-only-test.ts';

/** Milliseconds after which the key of a test expires, in case the test cannot revoke it. */
const KEY_LIFETIME = 3_600_000;

const USAGE = `npm run smoke -- --stage STAGE [PATTERN ... | --read-only]

Runs the HTTP tests against a deployed stage. The items that the tests create are not deleted, so a stage that retains its
data, such as production, accepts only --read-only.

  --stage      stage to test (requires AWS credentials, and the stage's region in AWS_REGION)
  PATTERN      runs only the test files whose path matches PATTERN, such as test/http/gateway
  --read-only  sends one request for each of a few checks instead of running the tests, and adds no items

The requests use the API key in API_KEY, or a new key that expires after 1 hour and is revoked at the end. With --read-only,
the key must be one that can only read, like the new key. If both API_KEY and BASE_URL are set, the service at BASE_URL is
tested, and no AWS credentials are needed.`;

const options = {
  stage: { type: 'string' },
  'read-only': { type: 'boolean' },
} as const;

async function smoke(values: OptionValues<typeof options>, patterns: string[]): Promise<void> {
  const { 'read-only': isReadOnly = false } = values;
  const stage = deployedStageOption(values.stage, stages);
  if (isReadOnly && patterns.length > 0)
    throw new UsageError('--read-only and PATTERN cannot be combined, as --read-only runs no tests.');

  if (!isReadOnly && stages[stage]?.retainData)
    throw new UsageError(
      `The tests would leave items in ${stage}, which retains its data. Append --read-only.`,
    );

  const interruption = new AbortController();
  onInterrupt(() => interruption.abort(new UsageError('The test was interrupted.')));
  const { BASE_URL: givenUrl, API_KEY: givenKey } = process.env;
  const test = (baseUrl: string, apiKey: string) =>
    isReadOnly
      ? readOnlyTest({ stage, baseUrl, apiKey }, interruption.signal)
      : runHttpTests({ stage, baseUrl, apiKey }, patterns, interruption.signal);
  if (givenUrl && givenKey) {
    const [baseUrl, apiKey] = [requireBaseUrl(givenUrl), givenKey.trim()];
    await requireService(baseUrl, apiKey, collections[0]);
    return await test(baseUrl, apiKey);
  }

  const { baseUrl, apiKeysTable } = await findDeployedStage(stage);
  const store = { stage, table: apiKeysTable, database: connect({}, httpsAgent) };
  await using cleanup = new AsyncDisposableStack();
  const apiKey = process.env['API_KEY'] || (await issueKey(store, isReadOnly, cleanup));
  interruption.signal.throwIfAborted();
  // Without await, the key would be revoked before the test ends.
  await test(baseUrl, apiKey);
}

/** Runs the HTTP tests in a process whose exit code becomes the exit code of this process. */
async function runHttpTests(
  { stage, baseUrl, apiKey }: TestedStage,
  patterns: string[],
  interruption: AbortSignal,
): Promise<void> {
  console.log(`Running the HTTP tests against ${baseUrl} …`);
  const publicUrl = stages[stage]?.publicUrl;
  const parameters = patterns.map((pattern) => `--testPathPatterns=${pattern}`);
  // This command does not start npm, because on Windows npm is a batch file, which `spawn` cannot start without a shell:
  // https://nodejs.org/docs/latest-v24.x/api/child_process.html#spawning-bat-and-cmd-files-on-windows
  const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const [, ...jest] = scripts['test:http'].split(' '); // without `node`
  // Test files run one at a time, because AWS limits concurrency in new accounts and API Gateway throttles methods.
  const tests = spawn(process.execPath, [...jest, '--runInBand', ...parameters], {
    cwd: projectRoot,
    stdio: 'inherit',
    env: {
      ...process.env,
      BASE_URL: baseUrl,
      API_KEY: apiKey,
      DEPLOYED_STAGE: 'true',
      NODE_USE_ENV_PROXY: '1', // Like this command, the tests use the proxy in HTTPS_PROXY.
      // The URLs in `Link` and `Location` start with this URL instead of the base URL's host.
      ...(publicUrl !== undefined && { PUBLIC_URL: publicUrl }),
    },
  });
  interruption.addEventListener('abort', () => tests.kill());
  const [code] = (await once(tests, 'exit')) as [number | null];
  interruption.throwIfAborted();
  process.exitCode = code ?? 1;
  // BASE_URL can be that of another service, so this line names the URL instead of the stage.
  console.log(`${baseUrl} ${code === 0 ? 'passed' : 'failed'} the HTTP tests.`);
}

/** Issues a key that `cleanup` revokes. */
async function issueKey(store: KeyStore, readOnly: boolean, cleanup: AsyncDisposableStack): Promise<string> {
  const caller = await findCaller();
  const newKey = { owner: 'smoke test', readOnly, lifetime: KEY_LIFETIME, caller };
  const { key, record } = await issueApiKey(store, newKey);
  cleanup.defer(async () => {
    await revokeApiKey(store, record, caller).catch(({ message }: Error) =>
      console.error(`The key ${record.keyId} was not revoked. It expires within the hour. Cause: ${message}`),
    );
  });
  return key;
}

await runWithOptions(USAGE, options, smoke, { allowPositionals: true });
