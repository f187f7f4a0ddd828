import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sharedSynthesis } from '../../support/assembly.ts';

jest.setTimeout(60_000); // for processes that start on a busy machine

const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));
const started: ChildProcess[] = [];
let assembly: string;

beforeAll(async () => {
  ({ assembly } = await sharedSynthesis());
});
afterEach(() => {
  for (const { pid } of started.splice(0)) {
    try {
      process.kill(-pid!, 'SIGKILL');
    } catch {
      // Nothing is left of it.
    }
  }
});

/** Runs `npm start` in a process group of its own, up to where it serves. */
async function startByNpm(): Promise<{ npm: ChildProcess; output: () => string }> {
  const options = ['--port', '0', '--data', 'memory', '--assembly', assembly];
  const npm = spawn('npm', ['start', '--', ...options], { cwd: projectRoot, detached: true });
  started.push(npm);
  let output = '';
  await new Promise<void>((resolve, reject) => {
    function collect(chunk: Buffer): void {
      output += chunk.toString();
      if (output.includes('curl')) resolve();
    }
    npm.stdout.on('data', collect);
    npm.stderr.on('data', collect);
    npm.once('close', () => reject(new Error(output)));
  });
  return { npm, output: () => output };
}

describe('npm start', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)('leaves nothing running when npm gets %s', async (signal) => {
    const { npm, output } = await startByNpm();
    const [, baseAddress] = /base address {2}(\S+)/.exec(output()) ?? [];
    // Comes when each process that can still write has ended: npm, its shell, and the service.
    const closed = once(npm, 'close');
    npm.kill(signal);
    await closed;
    await expect(fetch(baseAddress!)).rejects.toThrow('fetch failed');
  });
});
