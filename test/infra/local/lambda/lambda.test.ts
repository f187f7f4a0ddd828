import { afterEach, describe, expect, test } from '@jest/globals';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BroadcastChannel, type Worker } from 'node:worker_threads';
import { bundleIn, createFunction, type LambdaFunction } from '../../../../infra/local/lambda/lambda.ts';
import { RunnerError } from '../../../../infra/local/runner-error.ts';
import { lambdaFunction, role, templateOf } from '../../../support/sample-resources.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const assembly = temporaryFolder();
let bundles = 0;
const started: LambdaFunction[] = [];

/** A function whose bundle has this source text. */
function functionOf(
  source: string,
  timeoutSeconds = 10,
  log: (line: string) => void = () => {},
): LambdaFunction {
  bundles += 1;
  const asset = `bundle${bundles}`;
  mkdirSync(join(assembly, `asset.${asset}`));
  writeFileSync(join(assembly, `asset.${asset}`, 'index.mjs'), source);
  const template = templateOf({
    Role: role,
    Sample: lambdaFunction(asset, timeoutSeconds, { COLOUR: 'red' }),
  });
  const [resource] = template.resources('AWS::Lambda::Function');
  const file = bundleIn(assembly, resource!);
  const fn = createFunction(resource!, { file, databaseEndpoint: 'http://127.0.0.1:1', log });
  started.push(fn);
  return fn;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((fn) => fn.close()));
});

describe('a function', () => {
  test('has its own environment and nothing of the process that runs it', async () => {
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

  test('gets the event and a context', async () => {
    const { invoke } = functionOf(`export const handler = async (event, context) => [
      event, context.functionName, context.memoryLimitInMB, typeof context.awsRequestId,
      context.getRemainingTimeInMillis() > 0 && context.getRemainingTimeInMillis() <= 10_000,
    ];`);
    expect(await invoke({ path: '/' })).toEqual({
      result: JSON.stringify([{ path: '/' }, 'Sample', '128', 'string', true]),
    });
  });

  test('has a heap no larger than the memory of the template', async () => {
    const { invoke } = functionOf(`
      import { resourceLimits } from 'node:worker_threads';
      export const handler = () => resourceLimits.maxOldGenerationSizeMb + resourceLimits.maxYoungGenerationSizeMb;`);
    expect(await invoke({})).toEqual({ result: '128' });
  });

  test('keeps its instance, with the state of its module, for the next event', async () => {
    const { invoke } = functionOf('let calls = 0; export const handler = () => ++calls;');
    expect([await invoke({}), await invoke({}), await invoke({})]).toEqual([
      { result: '1' },
      { result: '2' },
      { result: '3' },
    ]);
  });

  test('answers events at once in up to three instances, each with one event at a time', async () => {
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

  test('that takes longer than its time-out loses the instance; the next event gets a new one', async () => {
    const { invoke } = functionOf(
      `let calls = 0;
      export const handler = ({ hangs }) => hangs ? new Promise(() => {}) : ++calls;`,
      1,
    );
    expect(await invoke({})).toEqual({ result: '1' });
    expect(await invoke({ hangs: true })).toEqual({ error: 'Task timed out after 1 seconds' });
    expect(await invoke({})).toEqual({ result: '1' });
  });

  test('that never yields is ended all the same, and those waiting get new instances', async () => {
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

  test('that throws what is no error gives that', async () => {
    const { invoke } = functionOf(`export const handler = () => { throw 'Unauthorized'; };`);
    expect(await invoke({})).toEqual({ error: expect.stringContaining('Unauthorized') });
  });

  test('whose result is undefined gives null', async () => {
    const { invoke } = functionOf('export const handler = () => {};');
    expect(await invoke({})).toEqual({ result: 'null' });
  });

  test('whose result JSON cannot say gives an error', async () => {
    const { invoke } = functionOf('export const handler = () => ({ id: 1n });');
    expect(await invoke({})).toEqual({ error: expect.stringContaining('BigInt') });
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
      new RunnerError(
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
    ['throws', `throw new Error('late')`],
    ['ends its process', 'process.exit(1)'],
  ])('that %s after its answer is replaced for the next event', async (_name, late) => {
    const { invoke } = functionOf(`
      import { BroadcastChannel } from 'node:worker_threads';
      let calls = 0;
      new BroadcastChannel('late').onmessage = () => { ${late} };
      export const handler = () => ++calls;`);
    const ended = endOfNextWorker();
    expect(await invoke({})).toEqual({ result: '1' });
    const channel = new BroadcastChannel('late');
    channel.postMessage('now');
    channel.close();
    await ended;
    expect(await invoke({})).toEqual({ result: '1' });
  });
});

describe('what a function writes', () => {
  const end = `function end() { console.log('the end'); console.error('the end of errors'); }`;

  test('arrives before the answer, so that nothing is lost when the function is ended', async () => {
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

  // JSON may hold them as they are.
  test('has no end of a line at U+2028 or U+2029', async () => {
    const lines = await linesOf(`${end}
      export const handler = () => { console.log('{"name":"a\\u2028b\\u2029c"}'); end(); };`);
    expect(lines).toEqual(['{"name":"a\u2028b\u2029c"}']);
  });

  test('arrives line by line, in order, however it was written', async () => {
    const lines = await linesOf(`${end}
      const pieces = ['one\\ntwo\\n', 'thr', 'ee', '\\n\\n', '{"four":"4\\\\n"}\\n'];
      export const handler = ({ ends }) => {
        for (const piece of pieces) process.stdout.write(piece);
        if (ends) end();
      };`);
    expect(lines).toEqual(['one', 'two', 'three', '', '{"four":"4\\n"}']);
  });

  test('arrives from each way to write', async () => {
    const lines = await linesOf(`${end}
      import { Console } from 'node:console';
      const own = new Console({ stdout: process.stdout, stderr: process.stderr });
      export const handler = () => {
        console.log('log'); console.info('info'); console.warn('warn'); console.error('error');
        own.log('own log'); own.error('own error');
        process.stdout.write('stdout\\n'); process.stderr.write('stderr\\n');
        end();
      };`);
    expect(lines.toSorted()).toEqual(
      ['log', 'info', 'warn', 'error', 'own log', 'own error', 'stdout', 'stderr'].toSorted(),
    );
  });

  test('while it is loaded arrives too, once for its instance', async () => {
    const lines = await linesOf(
      `${end}
      console.log('loaded');
      export const handler = ({ n, ends }) => { if (ends) end(); else console.log('event ' + n); };`,
      { n: 1 },
      { n: 2 },
    );
    expect(lines).toEqual(['loaded', 'event 1', 'event 2']);
  });

  test('before it throws arrives', async () => {
    const lines = await linesOf(
      `${end}
      export const handler = ({ ends }) => {
        if (ends) return end();
        console.log('about to');
        throw new Error('no luck');
      };`,
      {},
    );
    expect(lines).toEqual(['about to']);
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
