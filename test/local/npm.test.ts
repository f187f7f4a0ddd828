import { afterEach, expect, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { sharedSynthesis } from '../support/assembly.ts';
import { commandEnvironment } from '../support/run-command.ts';

const { assembly } = await sharedSynthesis();
let npm: ChildProcess | undefined;
afterEach(() => {
  // With `detached`, npm and the service are in a process group of their own, so this signal ends both.
  if (npm?.pid) process.kill(-npm.pid, 'SIGKILL');
});

// Some shells replace themselves with the command that they run, and others remain its parent, so the test runs with each.
const shells = ['/bin/sh', '/bin/dash', '/bin/bash'].filter((shell) => existsSync(shell));
test.each(shells)('a local service that npm started with %s stops if npm gets SIGTERM', async (shell) => {
  const options = ['--port', '0', '--data', 'memory', '--assembly', assembly];
  npm = spawn('npm', ['start', `--script-shell=${shell}`, '--', ...options], {
    detached: true,
    env: commandEnvironment({}),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  for await (const chunk of npm.stdout!.iterator({ destroyOnReturn: false })) {
    output += chunk;
    if (output.includes('curl')) break;
  }
  const [, baseUrl = ''] = /base URL {2}(\S+)/.exec(output)!;
  expect((await fetch(baseUrl)).status).toBe(404);

  const ended = once(npm, 'close'); // The event follows the exit of all processes that have npm's standard output.
  npm.kill('SIGTERM');
  npm.stdout!.resume();
  await ended;
  await expect(fetch(baseUrl)).rejects.toThrow('fetch failed');
  npm = undefined;
});
