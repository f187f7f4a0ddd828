import { afterAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateApiKey } from '../../../shared/api-key-format.ts';
import { type Behavior, inOrder, startClientProxy } from '../../support/client-proxy.ts';
import { done, type Outcome } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { clients, describeFor, runIn, unpack } from './example-clients.ts';

// Tests features that only the shell client has. The proxy sends all responses, so no service is needed.

const shell = clients.find(({ name }) => name === 'Shell')!;
const apiKey = generateApiKey('staging');
const parent = temporaryFolder();
const created: Behavior = { status: 201, headers: {}, body: '{}' };
const proxy = await startClientProxy('');
afterAll(() => proxy.close());

function run(folder: string, program: string, environment: Record<string, string> = {}): Promise<Outcome> {
  const settings = { BASE_URL: proxy.baseUrl, API_KEY: apiKey, ...environment };
  return runIn(folder, shell, program, ['pet.json'], settings);
}

describeFor(shell)('in a POSIX shell (needs curl)', () => {
  test('the client keeps the API key out of process arguments and removes temporary files', async () => {
    const folder = unpack(parent);
    const recordFile = join(folder, 'arguments');
    const realCurl = execFileSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).trim();
    const recordingCurl = `#!/bin/sh\nprintf '%s\\n' "$@" >>'${recordFile}'\nexec '${realCurl}' "$@"\n`;
    writeFileSync(join(folder, 'curl'), recordingCurl, { mode: 0o755 });
    writeFileSync(join(folder, 'pet.json'), '{}');
    proxy.decide(inOrder(created));
    const program = `mkdir tmp; TMPDIR=$PWD/tmp; export TMPDIR; ${shell.create}; ls tmp`;
    const { stdout } = await run(folder, program, { PATH: `${folder}:${process.env['PATH']}` });
    expect(stdout).toBe('{}\n');
    expect(proxy.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${apiKey}`]);
    const recordedArguments = readFileSync(recordFile, 'utf8');
    expect(recordedArguments).toContain(proxy.baseUrl);
    expect(recordedArguments).not.toContain(apiKey);
  });

  test('the client uses one Idempotency-Key per file for all attempts', async () => {
    const folder = unpack(parent);
    proxy.decide(inOrder(created, created, created));
    for (const file of ['pet.json', 'other.json']) writeFileSync(join(folder, file), '{}');
    const program = `set -e; for file in pet.json other.json pet.json; do set -- $file; ${shell.create}; done`;
    done(await run(folder, program));
    const [first, other, retry] = proxy.requests.map(({ headers }) => headers['idempotency-key']);
    expect([first, other]).toEqual(Array(2).fill(expect.stringMatching(/^[\da-f]{32}$/)));
    expect(retry).toBe(first);
    expect(other).not.toBe(first);
  });
});
