import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { BroadcastChannel } from 'node:worker_threads';
import {
  bundleIn,
  createFunction,
  type RunningFunction,
} from '../../../../infra/local/emulator/lambda/lambda.ts';
import { lambdaFunction, role, templateOf } from '../sample-resources.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const assembly = temporaryFolder();
const started: RunningFunction[] = [];
let lines: string[] = [];
const log = (line: string) => void lines.push(line);

/** Writes a bundle to a new asset in the assembly. Returns the asset's name. */
function bundleOf(source: string): string {
  const folder = mkdtempSync(join(assembly, 'asset.'));
  writeFileSync(join(folder, 'index.mjs'), source);
  return folder.slice(folder.lastIndexOf('.') + 1);
}

function resourceOf(bundle: string) {
  const ListBooks = lambdaFunction(bundle, { COLOR: 'red' });
  return templateOf({ Role: role, ListBooks }).resources('AWS::Lambda::Function')[0]!;
}

function functionOf(source: string): RunningFunction {
  const resource = resourceOf(bundleOf(source));
  const file = bundleIn(assembly, resource);
  started.push(createFunction(resource, { file, databaseEndpoint: 'http://127.0.0.1:1', log }));
  return started.at(-1)!;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((fn) => fn.close()));
  lines = [];
  jest.useRealTimers();
});

describe('a function', () => {
  test('names the sources in the stack traces that it logs', async () => {
    const map = { version: 3, sources: ['get-book.ts'], mappings: 'AAAA;AAIA' }; // The second line is line 5 of the source.
    const url = `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
    const { invoke } = functionOf(`export const handler = async () => {
throw new Error('lost'); };
//# sourceMappingURL=${url}`);
    await invoke({});
    expect(lines.join('\n')).toMatch(/Error: lost\n.* at handler \(.*get-book\.ts:5:/);
  });

  test('gets the event, a context, its environment variables and its memory size', async () => {
    process.env['SECRET_OF_THE_PARENT'] = 'secret';
    const { invoke } = functionOf(`
      import { resourceLimits } from 'node:worker_threads';
      export const handler = async (event, context) => ({
        event,
        context: [
          context.functionName, context.memoryLimitInMB, typeof context.awsRequestId,
          context.getRemainingTimeInMillis() > 0 && context.getRemainingTimeInMillis() <= 10_000,
        ],
        heap: resourceLimits.maxOldGenerationSizeMb + resourceLimits.maxYoungGenerationSizeMb,
        environment: process.env,
      });`);
    const { result } = (await invoke({ path: '/' })) as { result: string };
    expect(JSON.parse(result)).toEqual({
      event: { path: '/' },
      context: ['ListBooks', '128', 'string', true],
      heap: 128,
      environment: {
        COLOR: 'red',
        AWS_LAMBDA_FUNCTION_NAME: 'ListBooks',
        AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'ListBooks',
        AWS_SECRET_ACCESS_KEY: 'local',
        AWS_CONFIG_FILE: expect.any(String),
        AWS_SHARED_CREDENTIALS_FILE: expect.any(String),
        AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
      },
    });
  });

  test('handles concurrent events in up to three instances', async () => {
    // Each instance waits for the other two, so the test fails if fewer than three start.
    const { invoke } = functionOf(`
      import { readdirSync, writeFileSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      import { threadId } from 'node:worker_threads';
      let active = 0;
      export const handler = async (folder) => {
        const concurrent = ++active;
        writeFileSync(folder + '/' + threadId, '');
        while (readdirSync(folder).length < 3) await setTimeout(1);
        active -= 1;
        return { concurrent, threadId };
      };`);
    const folder = mkdtempSync(join(assembly, 'active-'));
    const invocations = await Promise.all(Array.from({ length: 5 }, () => invoke(folder)));
    const responses = invocations.map((invocation) => JSON.parse((invocation as { result: string }).result));
    expect(new Set(responses.map(({ threadId }) => threadId)).size).toBe(3);
    expect(responses.map(({ concurrent }) => concurrent)).toEqual(Array(5).fill(1));
  });

  test('is terminated after its timeout even if it blocks its thread', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'nextTick', 'setImmediate', 'queueMicrotask'] });
    const { invoke } = functionOf(`
      import { writeFileSync } from 'node:fs';
      export const handler = (file) => { if (file) writeFileSync(file, ''); while (file); return 1; };`);
    const file = join(mkdtempSync(join(assembly, 'spinning-')), 'started');
    const spinning = invoke(file);
    while (!existsSync(file)) await setTimeout(1);
    jest.advanceTimersByTime(10_000);
    expect(await spinning).toEqual({ error: 'Task timed out after 10 seconds' });
    expect(await invoke('')).toEqual({ result: '1' });
  });

  test('keeps its instance after an error, but gets a new instance if the instance exits', async () => {
    const { invoke } = functionOf(`let calls = 0;
      export const handler = async (action) => {
        calls += 1;
        if (action === 'throw') throw new Error('test error');
        if (action === 'exit') process.exit(3);
        return { count: calls, bigint: 1n }[action];
      };`);
    expect(await invoke('throw')).toEqual({ error: expect.stringContaining('Error: test error') });
    expect(await invoke('bigint')).toEqual({ error: expect.stringContaining('BigInt') });
    expect(await invoke('nothing')).toEqual({ result: 'null' });
    expect(await invoke('count')).toEqual({ result: '4' });
    expect(await invoke('exit')).toEqual({ error: 'The instance exited with code 3' });
    expect(await invoke('count')).toEqual({ result: '1' });
  });

  test('returns an error for each event if its bundle throws an error at import', async () => {
    const { invoke } = functionOf(`throw new Error('no table');`);
    expect(await invoke({})).toEqual({ error: expect.stringContaining('no table') });
    expect(await invoke({})).toEqual({ error: expect.stringContaining('no table') });
  });

  test('gets a new instance if its idle instance throws an error', async () => {
    const { invoke } = functionOf(
      `import { BroadcastChannel } from 'node:worker_threads';
      let calls = 0;
      new BroadcastChannel('late').onmessage = () => { throw new Error('late'); };
      export const handler = () => ++calls;`,
    );
    expect(await invoke({})).toEqual({ result: '1' });
    const channel = new BroadcastChannel('late');
    channel.postMessage('now');
    channel.close();
    while (lines.length === 0) await setTimeout(1);
    expect(await invoke({})).toEqual({ result: '1' });
    expect(lines).toEqual([expect.stringMatching(/^ListBooks: Error: late/)]);
  });

  test('uses the new code after an update, but the previous code for an event in progress', async () => {
    const [begun, gate] = [join(assembly, 'begun'), join(assembly, 'gate')];
    const { invoke, updateCode } = functionOf(`
      import { existsSync, writeFileSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      export const handler = async () => {
        writeFileSync(${JSON.stringify(begun)}, '');
        while (!existsSync(${JSON.stringify(gate)})) await setTimeout(1);
        return 'previous';
      };`);
    const inProgress = invoke({});
    while (!existsSync(begun)) await setTimeout(1);
    const code = bundleOf(`export const handler = () => 'new';`);
    const drained = updateCode(bundleIn(assembly, resourceOf(code)));
    expect(await invoke({})).toEqual({ result: '"new"' });
    writeFileSync(gate, '');
    expect(await inProgress).toEqual({ result: '"previous"' });
    await drained;
  });
});

test('the output of a function is logged line by line before its result is returned', async () => {
  const { invoke } = functionOf(`console.log('loaded');
    export const handler = () => {
      for (const piece of ['one\\ntwo\\n', 'thr', 'ee 📖', '\\n\\n', 'four\\n']) process.stdout.write(piece);
      console.error('five');
    };`);
  await invoke({});
  // The order of lines on different streams is not defined, so the test checks them separately.
  expect(lines).toContain('five');
  expect(lines.filter((line) => line !== 'five')).toEqual(['loaded', 'one', 'two', 'three 📖', '', 'four']);
});
