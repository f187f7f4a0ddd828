import { afterAll, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { EventEmitter, on, once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startLocalServiceOf } from '../support/local-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { copyProject } from '../support/project-copy.ts';

const project = copyProject(temporaryFolder());
const FUNCTION = 'functions/list-pets.ts';
const STORAGE = 'shared/storage/page.ts';

/** Returns the position, such as `functions/list-pets.ts:8`, of the first line that contains `text`. */
function positionOf(file: string, text: string): string {
  const index = project
    .read(file)
    .split('\n')
    .findIndex((line) => line.includes(text));
  // A test would wait in vain for the position.
  if (index === -1) throw new Error(`No line of ${file} contains ${text}. Change the text in the test.`);
  return `${file}:${index + 1}`;
}

/** Returns the position of a line after the assignments of `items` and `next`. */
const functionPosition = () => positionOf(FUNCTION, 'if (next ===');

/** The lowest valid value of `functionTimeoutSeconds`. */
const TIMEOUT_SECONDS = 8;

/** Debugger port of `FUNCTION`, the first function in the template. The other functions use the next ports. */
const port = await firstFreePort(readdirSync('functions').length);

const stages = project
  .read('infra/stages.ts')
  .replaceAll(/(?<=functionTimeoutSeconds: )\d+/g, `${TIMEOUT_SECONDS}`);
project.write('infra/stages.ts', stages);
const service = await startLocalServiceOf(project.folder, '--inspect', port.toString());
await service.printed(/Z watching/);
afterAll(() => service.stop('SIGKILL'));

/** Returns the first of `count` consecutive free ports below those that Linux uses for outgoing connections. */
async function firstFreePort(count: number): Promise<number> {
  for (;;) {
    const first = randomInt(20_000, 30_000);
    const servers = Array.from({ length: count }, (_, index) =>
      createServer().listen(first + index, '127.0.0.1'),
    );
    const results = await Promise.allSettled(servers.map((server) => once(server, 'listening')));
    const listening = servers.filter((_, index) => results[index]!.status === 'fulfilled');
    await Promise.all(listening.map((server) => once(server.close(), 'close')));
    if (listening.length === count) return first;
  }
}

async function fetchJson(url: string): Promise<any> {
  return (await fetch(url)).json();
}

/** Attaches to the function, and uses the bundle's source map to set breakpoints at the given source positions. */
async function attachDebugger(...breakpoints: string[]) {
  const url = `http://127.0.0.1:${port}/json/list`;
  let targets: any;
  // Directly after a reload, the new instance can still refuse connections, so the request is repeated.
  while (!targets) {
    targets = await fetchJson(url).catch(() => undefined);
    if (!targets) await setTimeout(50);
  }
  const socket = new WebSocket(targets[0].webSocketDebuggerUrl);
  const messages = new EventEmitter();
  socket.addEventListener('message', ({ data }) => {
    const { id, method = `response ${id}`, params, result } = JSON.parse(data);
    messages.emit(method, result ?? params);
  });
  await once(socket, 'open');
  let calls = 0;
  async function send(method: string, params = {}): Promise<any> {
    socket.send(JSON.stringify({ id: (calls += 1), method, params }));
    return (await once(messages, `response ${calls}`))[0];
  }

  const pauses = on(messages, 'Debugger.paused');
  messages.on('Debugger.scriptParsed', (script) => {
    if (script.url.includes('/bundles/')) messages.emit('loaded', script);
  });
  const loaded = once(messages, 'loaded');
  await send('Debugger.enable');
  const [{ scriptId, url: scriptUrl, sourceMapURL }] = await loaded;
  const payload = JSON.parse(readFileSync(new URL(sourceMapURL, scriptUrl), 'utf8'));
  const map = new SourceMap(payload);
  const { scriptSource } = await send('Debugger.getScriptSource', { scriptId });
  const origins = scriptSource.split('\n').map((line: string, index: number) => {
    const origin: any = map.findOrigin(index + 1, line.search(/\S|$/) + 1);
    return `${origin.fileName}:${origin.lineNumber}`;
  });
  for (const position of breakpoints) {
    const lineNumber = origins.indexOf(position);
    await send('Debugger.setBreakpoint', { location: { scriptId, lineNumber } });
  }
  return {
    payload,
    /** Waits until the function is at a breakpoint. Returns the breakpoint's position and the expression's value. */
    paused: async (expression: string) => {
      const [{ callFrames }] = (await pauses.next()).value!;
      const [{ callFrameId, location }] = callFrames;
      const parameters = { callFrameId, expression, returnByValue: true };
      const { result } = await send('Debugger.evaluateOnCallFrame', parameters);
      return [origins[location.lineNumber], result.value];
    },
    resume: () => send('Debugger.resume'),
  };
}

// Each test depends on the previous test, so a single test cannot run alone.
test("a debugger can stop a function for longer than the function's timeout, and can read its variables", async () => {
  const breakpoints = [positionOf(STORAGE, 'const items = Items.slice('), functionPosition()];
  const { payload, paused, resume } = await attachDebugger(...breakpoints);
  const source = payload.sources.indexOf(FUNCTION);
  expect(fileURLToPath(new URL(FUNCTION, payload.sourceRoot))).toBe(join(project.folder, FUNCTION));
  expect(payload.sourcesContent[source]).toBe(project.read(FUNCTION));

  const responding = service.request('/pets?limit=7');
  expect(await paused('limit')).toEqual([breakpoints[0], 7]);
  await setTimeout(TIMEOUT_SECONDS * 1_000 + 500);
  await resume();
  expect(await paused('({ items, next, limit: query.limit })')).toEqual([
    breakpoints[1],
    { items: [], limit: 7 },
  ]);
  await resume();
  expect((await responding).status).toBe(200);
});

test('after a reload, a debugger stops the function at a breakpoint in the new source', async () => {
  project.write(FUNCTION, `// This line moves the others.\n${project.read(FUNCTION)}`);
  await service.printed(/reloaded the functions/);
  const breakpoint = functionPosition();
  const { paused, resume } = await attachDebugger(breakpoint);
  const responding = service.request('/pets');
  expect(await paused('items')).toEqual([breakpoint, []]);
  await resume();
  expect((await responding).status).toBe(200);
});

test('a debugger finds the function over HTTP, unless VS Code attaches to the process itself', async () => {
  expect(await fetchJson(`http://127.0.0.1:${port}/json/list`)).toMatchObject([
    { webSocketDebuggerUrl: expect.stringContaining('ws://') },
  ]);
  const otherPort = await firstFreePort(readdirSync('functions').length);
  process.env['VSCODE_INSPECTOR_OPTIONS'] = '{}';
  const inCode = await startLocalServiceOf(project.folder, '--inspect', otherPort.toString());
  delete process.env['VSCODE_INSPECTOR_OPTIONS'];
  await inCode.printed(RegExp(`Debugger listening on ws://127.0.0.1:${otherPort}/`));
  const response = await fetch(`http://127.0.0.1:${otherPort}/json/list`).catch(() => undefined);
  expect(response?.ok).not.toBe(true);
  expect(await inCode.stop()).toBe(0);
});

test('the local service stops even if a function is at a breakpoint', async () => {
  const { paused } = await attachDebugger(functionPosition());
  const responding = service.request('/pets');
  await paused('items');
  expect(await service.stop()).toBe(0);
  expect((await responding).status).toBe(500);
});
