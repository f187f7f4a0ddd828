import { afterEach, describe, expect, test } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BroadcastChannel, type Worker } from 'node:worker_threads';
import { bundleIn, createFunction, type RunningFunction } from '../../../../infra/local/lambda/lambda.ts';
import { UsageError } from '../../../../infra/operate/command.ts';
import { lambdaFunction, role, templateOf } from '../../../support/sample-resources.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const assembly = temporaryFolder();
let bundles = 0;
const started: RunningFunction[] = [];

/** Writes a bundle as an asset of the assembly. */
function bundleOf(source: string): string {
  bundles += 1;
  const folder = join(assembly, `asset.bundle${bundles}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'index.mjs'), source);
  return join(folder, 'index.mjs');
}

/** A function whose bundle has this source text. */
function functionOf(
  source: string,
  timeoutSeconds = 10,
  log: (line: string) => void = () => {},
): RunningFunction {
  const file = bundleOf(source);
  const template = templateOf({
    Role: role,
    Sample: lambdaFunction(`bundle${bundles}`, timeoutSeconds, { COLOUR: 'red' }),
  });
  const [resource] = template.resources('AWS::Lambda::Function');
  expect(bundleIn(assembly, resource!)).toBe(file);
  const fn = createFunction(resource!, { file, databaseEndpoint: 'http://127.0.0.1:1', log });
  started.push(fn);
  return fn;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((fn) => fn.close()));
});

describe('a function', () => {
  test('has its own environment, and nothing of this process', async () => {
    process.env['SECRET_OF_THE_PARENT'] = 'secret';
    const { invoke } = functionOf('export const handler = () => process.env;');
    const invocation = await invoke({});
    delete process.env['SECRET_OF_THE_PARENT'];
    expect(JSON.parse((invocation as { result: string }).result)).toEqual({
      COLOUR: 'red',
      AWS_LAMBDA_FUNCTION_NAME: 'Sample',
      AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'Sample',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_CONFIG_FILE: expect.any(String),
      AWS_SHARED_CREDENTIALS_FILE: expect.any(String),
      AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1',
    });
  });

  test('gets the event and a context, and a heap as large as its memory', async () => {
    const { invoke } = functionOf(`
      import { resourceLimits } from 'node:worker_threads';
      export const handler = async (event, context) => [
        event, context.functionName, context.memoryLimitInMB, typeof context.awsRequestId,
        context.getRemainingTimeInMillis() > 0 && context.getRemainingTimeInMillis() <= 10_000,
        resourceLimits.maxOldGenerationSizeMb + resourceLimits.maxYoungGenerationSizeMb,
      ];`);
    expect(await invoke({ path: '/' })).toEqual({
      result: JSON.stringify([{ path: '/' }, 'Sample', '128', 'string', true, 128]),
    });
  });

  test('reuses its instance, with the state of its module, for the next event', async () => {
    const { invoke } = functionOf('let calls = 0; export const handler = () => ++calls;');
    expect([await invoke({}), await invoke({})]).toEqual([{ result: '1' }, { result: '2' }]);
  });

  test('handles concurrent events in up to three instances, each with one event at a time', async () => {
    // No instance answers before it knows of three at work.
    const { invoke } = functionOf(`
      import { setTimeout } from 'node:timers/promises';
      import { threadId, BroadcastChannel } from 'node:worker_threads';
      const channel = new BroadcastChannel('instances of the sample');
      const seen = new Set([threadId]);
      channel.onmessage = ({ data }) => { if (!seen.has(data)) { seen.add(data); channel.postMessage(threadId); } };
      let atWork = 0;
      export const handler = async () => {
        atWork += 1;
        const most = atWork;
        channel.postMessage(threadId);
        while (seen.size < 3) await setTimeout(1);
        atWork -= 1;
        return { most, threadId };
      };`);
    const invocations = await Promise.all(Array.from({ length: 10 }, () => invoke({})));
    const answers = invocations.map((invocation) => JSON.parse((invocation as { result: string }).result));
    expect(new Set(answers.map(({ threadId }) => threadId)).size).toBe(3);
    expect(answers.map(({ most }) => most)).toEqual(Array(10).fill(1));
  });

  test('that exceeds its timeout, although it never yields, is ended; waiting events get new instances', async () => {
    const { invoke } = functionOf('export const handler = ({ spins }) => { while (spins); return 1; };', 1);
    const spinning = Array.from({ length: 3 }, () => invoke({ spins: true }));
    const waiting = [invoke({}), invoke({}), invoke({})];
    const timedOut = { error: 'Task timed out after 1 seconds' };
    expect(await Promise.all(spinning)).toEqual([timedOut, timedOut, timedOut]);
    const answered = { result: '1' };
    expect(await Promise.all(waiting)).toEqual([answered, answered, answered]);
  });

  test('that throws gives the error and keeps its instance', async () => {
    const { invoke } = functionOf(`let calls = 0;
      export const handler = async ({ fails }) => { calls += 1; if (fails) throw new Error('no luck'); return calls; };`);
    expect(await invoke({ fails: true })).toEqual({ error: expect.stringContaining('Error: no luck') });
    expect(await invoke({})).toEqual({ result: '2' });
  });

  test('whose result JSON cannot hold gives an error, and null for undefined', async () => {
    const { invoke } = functionOf('export const handler = ({ id }) => id && ({ id: 1n });');
    expect(await invoke({ id: 1 })).toEqual({ error: expect.stringContaining('BigInt') });
    expect(await invoke({})).toEqual({ result: 'null' });
  });

  test.each([
    ['throws at import', `throw new Error('no table');`, 'no table'],
    ['is not JavaScript', 'export const handler = ;', 'SyntaxError'],
    ['has no handler', 'export const other = () => 1;', 'does not export handler'],
  ])('whose bundle %s gives an error for each event', async (_name, source, message) => {
    const { invoke } = functionOf(source);
    expect(await invoke({})).toEqual({ error: expect.stringContaining(message) });
    expect(await invoke({})).toEqual({ error: expect.stringContaining(message) });
  });

  test('whose bundle is missing cannot be run', () => {
    const template = templateOf({ Role: role, Sample: lambdaFunction('missing') });
    const [resource] = template.resources('AWS::Lambda::Function');
    expect(() => bundleIn(assembly, resource!)).toThrow(
      new UsageError(
        `The assembly ${assembly} lacks the bundle of Sample: synthesize this stack again with npx cdk synth.`,
      ),
    );
  });

  test('that ends its process gives an error at once, and the next event gets a new instance', async () => {
    const { invoke } = functionOf(
      'let calls = 0; export const handler = ({ exits }) => { if (exits) process.exit(3); return ++calls; };',
    );
    expect(await invoke({})).toEqual({ result: '1' });
    expect(await invoke({ exits: true })).toEqual({ error: 'The instance exited with 3' });
    expect(await invoke({})).toEqual({ result: '1' });
  });

  test.each([
    ['throws', `throw new Error('late')`, /^Sample: Error: late/],
    ['ends its process', 'process.exit(1)', /^Sample: The instance exited with 1$/],
  ])('that %s after its result is replaced, and the reason is logged', async (_name, late, reason) => {
    const lines: string[] = [];
    const { invoke } = functionOf(
      `import { BroadcastChannel } from 'node:worker_threads';
      let calls = 0;
      new BroadcastChannel('late').onmessage = () => { ${late} };
      export const handler = () => ++calls;`,
      10,
      (line) => lines.push(line),
    );
    const ended = endOfNextWorker();
    expect(await invoke({})).toEqual({ result: '1' });
    const channel = new BroadcastChannel('late');
    channel.postMessage('now');
    channel.close();
    await ended;
    expect(await invoke({})).toEqual({ result: '1' });
    expect(lines).toEqual([expect.stringMatching(reason)]);
  });

  test('that gets new code finishes its events with the previous code, and then ends that', async () => {
    const gate = join(assembly, 'gate');
    const { invoke, updateCode } = functionOf(`
      import { existsSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      export const handler = async () => {
        while (!existsSync(${JSON.stringify(gate)})) await setTimeout(1);
        return 'previous';
      };`);
    const inProgress = Array.from({ length: 3 }, () => invoke({}));
    const waiting = invoke({});
    const drained = updateCode(bundleOf(`export const handler = () => 'new';`));
    expect(await waiting).toEqual({ result: '"new"' });
    writeFileSync(gate, '');
    expect(await Promise.all(inProgress)).toEqual(inProgress.map(() => ({ result: '"previous"' })));
    await drained;
    expect(await invoke({})).toEqual({ result: '"new"' });
  });
});

describe('the output of a function', () => {
  const end = `function end() { console.log('the end'); console.error('the end of errors'); }`;

  test('arrives before the result, so that nothing is lost when the function is closed', async () => {
    const lines: string[] = [];
    const fn = functionOf(
      `export const handler = () => { for (const line of ['one', 'two', 'three']) console.log(line); };`,
      10,
      (line) => lines.push(line),
    );
    await fn.invoke({});
    await fn.close();
    expect(lines).toEqual(['one', 'two', 'three']);
  });

  test('arrives line by line, however it was written; U+2028 and U+2029 do not end a line', async () => {
    const lines = await linesOf(`${end}
      const pieces = ['one\\ntwo\\n', 'thr', 'ee', '\\n\\n', '{"four":"4\\\\n\\u2028\\u2029"}\\n'];
      export const handler = () => {
        for (const piece of pieces) process.stdout.write(piece);
        end();
      };`);
    expect(lines).toEqual(['one', 'two', 'three', '', '{"four":"4\\n\u2028\u2029"}']);
  });

  test('arrives from its start, its events and both streams', async () => {
    const lines = await linesOf(
      `${end}
      console.log('loaded');
      export const handler = ({ n, ends }) => {
        if (ends) return end();
        console.log('event ' + n);
        process.stdout.write('stdout\\n'); process.stderr.write('stderr\\n');
        throw new Error('no luck');
      };`,
      { n: 1 },
    );
    expect(lines.toSorted()).toEqual(['event 1', 'loaded', 'stderr', 'stdout']);
  });
});

/** Calls the function, and gives the lines that it had written when a line `the end` came from each stream. */
async function linesOf(source: string, ...events: object[]): Promise<string[]> {
  const lines: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const { invoke } = functionOf(source, 10, (line) => {
    lines.push(line);
    if (lines.filter((other) => other.startsWith('the end')).length === 2) resolve();
  });
  const ending = { ends: true };
  for (const event of [...events, ending]) await invoke(event);
  await promise;
  return lines.filter((line) => !line.startsWith('the end'));
}

/** Resolves when the worker that is started next has ended. */
function endOfNextWorker(): Promise<void> {
  return new Promise((resolve) => {
    function watch(message: unknown): void {
      unsubscribe('worker_threads', watch);
      (message as { worker: Worker }).worker.once('exit', () => resolve());
    }
    subscribe('worker_threads', watch);
  });
}
