import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateApiKey } from '../../shared/storage/api-keys.ts';
import { type ClientProxy, type Fate, inOrder, startClientProxy } from '../support/client-proxy.ts';
import { blockWith } from '../support/markdown-code.ts';
import type { Outcome } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { clients, describeWhereItRuns, document, runIn, unpack } from './example-clients.ts';

// What is of the shell alone in docs/clients.md. No service is needed: the proxy gives all answers.

const curl = clients.find(({ name }) => name === 'curl')!;
const apiKey = generateApiKey('staging');
const parent = temporaryFolder();
let proxy: ClientProxy;

beforeAll(async () => {
  proxy = await startClientProxy('');
});
afterAll(() => proxy.close());

function run(folder: string, program: string, environment: Record<string, string> = {}): Promise<Outcome> {
  return runIn(folder, curl, program, ['pet.json'], {
    BASE_URL: proxy.baseAddress,
    API_KEY: apiKey,
    ...environment,
  });
}

describeWhereItRuns(curl, () => {
  test('keeps the API key out of the arguments of processes', async () => {
    const folder = unpack(parent);
    const seen = join(folder, 'arguments');
    const real = execFileSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).trim();
    writeFileSync(join(folder, 'curl'), `#!/bin/sh\nprintf '%s\\n' "$@" >>'${seen}'\nexec '${real}' "$@"\n`);
    chmodSync(join(folder, 'curl'), 0o755);
    proxy.decide(inOrder({ status: 200, headers: {}, body: '[]' }));
    await run(folder, '. ./pets.sh; all_pages', { PATH: `${folder}:${process.env['PATH']}` });
    expect(proxy.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${apiKey}`]);
    const seenArguments = readFileSync(seen, 'utf8');
    expect(seenArguments).toContain(proxy.baseAddress);
    expect(seenArguments).not.toContain(apiKey);
  });

  test('sends a pet under the same Idempotency-Key when it is run again, and other pets under others', async () => {
    const folder = unpack(parent);
    const created: Fate = { status: 201, headers: {}, body: '{}' };
    proxy.decide(inOrder(created, created, created));
    writeFileSync(join(folder, 'pet.json'), '{}');
    writeFileSync(join(folder, 'other.json'), '{}');
    const { code, stderr } = await run(
      folder,
      '. ./pets.sh; create_pet pet.json && create_pet other.json && create_pet "$1"',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [first, other, again] = proxy.requests.map(({ headers }) => headers['idempotency-key']);
    expect([first, other]).toEqual(Array(2).fill(expect.stringMatching(/^[\da-f]{32}$/)));
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test('leaves no files behind but the key', async () => {
    const folder = unpack(parent);
    proxy.decide(inOrder({ status: 201, headers: {}, body: '{}' }));
    writeFileSync(join(folder, 'pet.json'), '{}');
    const program = 'mkdir tmp; TMPDIR=$PWD/tmp; export TMPDIR; . ./pets.sh; create_pet "$1"; ls tmp';
    expect((await run(folder, program)).stdout).toBe('{}\n');
    expect(existsSync(join(folder, 'pet.json.key'))).toBe(true);
  });

  test('reads base address and key from whoever types them', () => {
    const program = `${blockWith('stty -echo', document)}\nprintf '%s\\n%s\\n' "$BASE_URL" "$API_KEY" >asked`;
    const folder = unpack(parent);
    // Nobody types here, so there is no echo to be turned off.
    execFileSync('sh', ['-c', `stty() { :; }\n${program}`], {
      cwd: folder,
      input: `${proxy.baseAddress}\n${apiKey}\n`,
    });
    expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe(`${proxy.baseAddress}\n${apiKey}\n`);
  });
});
