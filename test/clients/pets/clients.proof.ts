import { describe, expect, test } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateApiKey } from '../../../shared/api-keys.ts';
import { parseJson } from '../../../shared/contract/json.ts';
import type { Pet } from '../../../shared/contract/pets.ts';
import { inOrder, startClientProxy } from '../../support/client-proxy.ts';
import { WAIT_LIMIT_MILLISECONDS } from '../../support/limits.ts';
import { startLocalService } from '../../support/local-service.ts';
import { codeBlocksIn } from '../../support/markdown-code.ts';
import { outcomeOf, sharedCompileCache } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { tricks } from './tricks.ts';

// These tests run the clients in docs/clients in programs of their users: with the responses in tricks.ts, and with the
// local service.

interface Client {
  name: string;
  /** Command that runs a program. */
  command: string;
  extension: string;
  /** Program that lists all pets, or creates a pet if there is an idempotency key, and prints the pets as JSON. */
  program: string;
}

const clients: Client[] = [
  {
    name: 'TypeScript',
    command: process.execPath,
    extension: 'ts',
    program: `
      import { PetStore, stringify } from './pets.ts';
      const { BASE_URL, API_KEY, IDEMPOTENCY_KEY: key } = process.env;
      const store = new PetStore(BASE_URL, API_KEY);
      console.error(store);
      const print = (pet) => console.log(stringify(pet));
      if (key !== undefined) print(await store.createPet({ name: 'Rex “é”', categoryId: 9223372036854775807n }, key));
      else for await (const pet of store.listPets()) print(pet);`,
  },
  {
    name: 'Python',
    command: pythonPath(),
    extension: 'py',
    program: `
import json, os, sys
from pets import PetStore
store = PetStore(os.environ["BASE_URL"], os.environ["API_KEY"])
print(store, file=sys.stderr)
key = os.environ.get("IDEMPOTENCY_KEY")
pet = {"name": "Rex “é”", "categoryId": 9223372036854775807}
for pet in store.list_pets() if key is None else [store.create_pet(pet, key)]:
    print(json.dumps(pet), flush=True)`,
  },
];

const folder = temporaryFolder();
const apiKey = generateApiKey('staging');

for (const client of clients) {
  const { status } = spawnSync(client.command, ['--version']);
  (status === 0 ? describe : describe.skip)(`the ${client.name} client`, () => {
    const source = readFileSync(`docs/clients/pets.${client.extension}`, 'utf8');
    const files = filesOf(client, source);
    const impatientFiles = filesOf(client, source.replace('TIMEOUT = 30', 'TIMEOUT = 2'));

    test.concurrent.each(tricks)('$title', async (trick) => {
      const server = await startClientProxy('http://127.0.0.1:1');
      const fill = <Value>(value: Value): Value =>
        JSON.parse(JSON.stringify(value).replaceAll('{origin}', server.origin).replaceAll('{key}', apiKey));
      server.decide(inOrder(...fill(trick.responses)));
      const { code, stdout, stderr } = await run(
        client,
        trick.isImpatient ? impatientFiles : files,
        'program',
        {
          BASE_URL: fill(trick.baseUrl ?? '{origin}/v1'),
          API_KEY: fill(trick.apiKey ?? '{key}'),
          ...(trick.idempotencyKey !== undefined && { IDEMPOTENCY_KEY: trick.idempotencyKey }),
        },
      );
      await server.close();

      const { requests } = server;
      expect({
        targets: requests.map(({ target }) => target),
        printed: stdout.split('\n').flatMap((line) => (line ? [(parseJson(line) as Pet).categoryId] : [])),
        isSuccess: code === 0,
        error: stderr,
      }).toEqual({
        targets: trick.requests,
        printed: trick.prints,
        isSuccess: trick.error === undefined,
        error: expect.stringContaining(fill(trick.error ?? '')),
      });
      for (const { headers, body } of requests) {
        expect(headers.authorization).toBe(`Bearer ${apiKey}`);
        if (trick.idempotencyKey === undefined) continue;
        expect(headers['idempotency-key']).toBe(trick.idempotencyKey);
        expect(parseJson(body)).toEqual({ name: 'Rex “é”', categoryId: 2n ** 63n - 1n });
        expect(body).toBe(requests[0]!.body);
      }
      const waited = requests.length > 1 ? requests[1]!.time - requests[0]!.time : 0;
      expect(waited).toBeGreaterThanOrEqual(trick.wait ?? 0);
      expect(`${stdout}${stderr}`).not.toContain(apiKey.slice(-36));
      expect(stderr).not.toMatch(/[^\P{Cc}\n]/u);
    });

    test('prints the documented output in the example of docs/clients/pets.md', async () => {
      // The example lists all available pets, so it needs a service without other pets.
      const service = await startLocalService();
      const settings = { BASE_URL: service.baseUrl, API_KEY: service.apiKey };
      const { stdout, stderr } = await run(client, files, 'try', settings);
      await service.stop();
      expect(withNumberedIds(stdout + stderr)).toBe(withNumberedIds(exampleOf(client).output));
    });
  });
}

/** Creates a folder with a client, its program above, and its example in docs/clients/pets.md. */
function filesOf(client: Client, source: string): string {
  const files = mkdtempSync(join(folder, 'client-'));
  writeFileSync(join(files, 'package.json'), '{"type":"module"}');
  writeFileSync(join(files, `pets.${client.extension}`), source);
  writeFileSync(join(files, `program.${client.extension}`), client.program);
  writeFileSync(join(files, `try.${client.extension}`), exampleOf(client).code);
  return files;
}

function exampleOf({ extension }: Client) {
  const blocks = codeBlocksIn(readFileSync('docs/clients/pets.md', 'utf8'));
  const index = blocks.findIndex(({ info }) => info.endsWith(` try.${extension}`));
  return { code: blocks[index]!.code, output: blocks[index + 1]!.code };
}

function run({ command, extension }: Client, cwd: string, program: string, settings: Record<string, string>) {
  // The clients must not use this proxy, which would see the API key.
  const env = {
    PATH: process.env['PATH'],
    http_proxy: 'http://127.0.0.1:1',
    ...sharedCompileCache(),
    ...settings,
  };
  return outcomeOf(
    promisify(execFile)(command, [`${program}.${extension}`], { cwd, env, timeout: WAIT_LIMIT_MILLISECONDS }),
  );
}

/** Returns the path of Python itself, because `python3` can be a script that finds it slowly. */
function pythonPath(): string {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  return stdout?.trim() || 'python3';
}

/** Replaces ids and request ids with the numbers of their first occurrences, because they differ between runs. */
function withNumberedIds(output: string): string {
  const found: string[] = [];
  return output.replaceAll(/\b\d{15}\b|[\da-f]{8}-[\da-f-]{27}/g, (id) => {
    if (!found.includes(id)) found.push(id);
    return `id ${found.indexOf(id)}`;
  });
}
