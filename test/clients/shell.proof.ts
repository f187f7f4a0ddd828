import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { type ClientProxy, type Fate, inOrder, startClientProxy } from '../support/client-proxy.ts';
import { blockWith } from '../support/markdown-code.ts';
import { done, type Outcome } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { clients, describeFor, document, runIn, unpack } from './example-clients.ts';

// What only the shell does in docs/clients.md. The proxy sends all responses.

const curl = clients.find(({ name }) => name === 'curl')!;
const apiKey = generateApiKey('staging');
const parent = temporaryFolder();
const created: Fate = { status: 201, headers: {}, body: '{}' };
let proxy: ClientProxy;

beforeAll(async () => {
  proxy = await startClientProxy('');
});
afterAll(() => proxy.close());

function run(folder: string, program: string, environment: Record<string, string> = {}): Promise<Outcome> {
  return runIn(folder, curl, program, ['pet.json'], {
    BASE_URL: proxy.baseUrl,
    API_KEY: apiKey,
    ...environment,
  });
}

describeFor(curl)('the functions for a shell (need curl)', () => {
  test('keeps the API key out of the arguments of processes, and no files but Idempotency-Keys', async () => {
    const folder = unpack(parent);
    const recordFile = join(folder, 'arguments');
    const real = execFileSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).trim();
    writeFileSync(
      join(folder, 'curl'),
      `#!/bin/sh\nprintf '%s\\n' "$@" >>'${recordFile}'\nexec '${real}' "$@"\n`,
    );
    chmodSync(join(folder, 'curl'), 0o755);
    writeFileSync(join(folder, 'pet.json'), '{}');
    proxy.decide(inOrder(created));
    const program = 'mkdir tmp; TMPDIR=$PWD/tmp; export TMPDIR; . ./pets.sh; create_pet "$1"; ls tmp';
    const { stdout } = await run(folder, program, { PATH: `${folder}:${process.env['PATH']}` });
    expect(stdout).toBe('{}\n');
    expect(proxy.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${apiKey}`]);
    const recordedArguments = readFileSync(recordFile, 'utf8');
    expect(recordedArguments).toContain(proxy.baseUrl);
    expect(recordedArguments).not.toContain(apiKey);
  });

  test('sends a pet with the same Idempotency-Key when it is run again, and other pets with others', async () => {
    const folder = unpack(parent);
    proxy.decide(inOrder(created, created, created));
    for (const file of ['pet.json', 'other.json']) writeFileSync(join(folder, file), '{}');
    const program = '. ./pets.sh; create_pet pet.json && create_pet other.json && create_pet "$1"';
    done(await run(folder, program));
    const [first, other, again] = proxy.requests.map(({ headers }) => headers['idempotency-key']);
    expect([first, other]).toEqual(Array(2).fill(expect.stringMatching(/^[\da-f]{32}$/)));
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('reads base URL and key from standard input', () => {
    const program = `${blockWith('stty -echo', document)}\nprintf '%s\\n%s' "$BASE_URL" "$API_KEY" >asked`;
    const cwd = unpack(parent);
    // There is no terminal whose echo could be turned off.
    execFileSync('sh', ['-c', `stty() { :; }\n${program}`], { cwd, input: `http://a/v1\n${apiKey}\n` });
    expect(readFileSync(join(cwd, 'asked'), 'utf8')).toBe(`http://a/v1\n${apiKey}`);
  });
});
