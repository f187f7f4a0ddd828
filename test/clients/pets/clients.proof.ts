import { describe, expect, test } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generateApiKey } from '../../../shared/api-keys.ts';
import { parseJson } from '../../../shared/contract/json.ts';
import type { Pet } from '../../../shared/contract/pets.ts';
import { inOrder, startClientProxy } from '../client-proxy.ts';
import { PROOF_LIMIT_MILLISECONDS } from '../../support/limits.ts';
import { startLocalService } from '../../support/local-service.ts';
import { codeBlocksIn } from '../../support/markdown-code.ts';
import { outcomeOf, sharedCompileCache } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Trick, tricks } from './tricks.ts';

// These tests run the clients in docs/clients in programs of their users: with the responses in tricks.ts, and with the
// local service.

interface Client {
  name: string;
  /** Command that runs a program. */
  command: string;
  extension: string;
  /**
   * Program that runs the cases in the variable CASES at the same time. In each case, it lists all pets, or creates a pet
   * if there is an idempotency key. It prints an array with the result of each case: the pets as JSON, and the error and
   * the client as a terminal shows them. Retries wait for a hundredth of the longest random time.
   */
  program: string;
}

interface Result {
  pets: string[];
  error: string;
  client: string;
}

const clients: Client[] = [
  {
    name: 'TypeScript',
    command: process.execPath,
    extension: 'ts',
    program: `
      import { inspect } from 'node:util';
      import { PetStore, stringify } from './pets.ts';
      Math.random = () => 0.01;
      async function run({ baseUrl, apiKey, idempotencyKey: key }) {
        const result = { pets: [], error: '', client: '' };
        const add = (pet) => result.pets.push(stringify(pet));
        try {
          const store = new PetStore(baseUrl, apiKey);
          result.client = inspect(store);
          if (key !== undefined) add(await store.createPet({ name: 'Rex “é”', categoryId: 9223372036854775807n }, key));
          else for await (const pet of store.listPets()) add(pet);
        } catch (error) {
          result.error = inspect(error);
        }
        return result;
      }
      console.log(JSON.stringify(await Promise.all(JSON.parse(process.env.CASES).map(run))));`,
  },
  {
    name: 'Python',
    command: pythonPath(),
    extension: 'py',
    program: `
import json, os, random, traceback
from concurrent.futures import ThreadPoolExecutor
from pets import PetStore
random.uniform = lambda low, high: high / 100
def run(case):
    result = {"pets": [], "error": "", "client": ""}
    key = case.get("idempotencyKey")
    pet = {"name": "Rex “é”", "categoryId": 9223372036854775807}
    try:
        store = PetStore(case["baseUrl"], case["apiKey"])
        result["client"] = repr(store)
        for pet in store.list_pets() if key is None else [store.create_pet(pet, key)]:
            result["pets"].append(json.dumps(pet))
    except Exception:
        result["error"] = traceback.format_exc()
    return result
cases = json.loads(os.environ["CASES"])
print(json.dumps(list(ThreadPoolExecutor(len(cases)).map(run, cases))))`,
  },
];

const folder = temporaryFolder();
const apiKey = generateApiKey('staging');

for (const client of clients) {
  const { status } = spawnSync(client.command, ['--version']);
  (status === 0 || process.env['CI'] === 'true' ? describe : describe.skip)(
    `the ${client.name} client`,
    () => {
      const source = readFileSync(`docs/clients/pets.${client.extension}`, 'utf8');
      const files = filesOf(client, source);

      test('sends, retries, returns and throws what tricks.ts says', async () => {
        const impatientFiles = filesOf(client, source.replace('TIMEOUT = 30', 'TIMEOUT = 2'));
        const patient = tricks.filter(({ isImpatient }) => !isImpatient);
        const impatient = tricks.filter(({ isImpatient }) => isImpatient);
        const outcomes = await Promise.all([
          outcomesOf(patient, client, files),
          outcomesOf(impatient, client, impatientFiles),
        ]);
        const expected = [...patient, ...impatient].map((trick) => [trick.title, expectedOf(trick)]);
        expect(Object.fromEntries(outcomes.flat())).toEqual(Object.fromEntries(expected));
      });

      test('prints the documented output in the example of docs/clients.md', async () => {
        // The example lists all available pets, so it needs a service without other pets.
        const service = await startLocalService();
        const settings = { BASE_URL: service.baseUrl, API_KEY: service.apiKey };
        const { stdout, stderr } = await run(client, files, 'try', settings);
        await service.stop();
        expect(withNumberedIds(stdout + stderr)).toBe(withNumberedIds(exampleOf(client).output));
      });
    },
  );
}

/** Runs the cases at the same time, each with a server of its own. Returns what the client did by the case's title. */
async function outcomesOf(cases: Trick[], client: Client, cwd: string) {
  const servers = await Promise.all(cases.map(() => startClientProxy('http://127.0.0.1:1')));
  const filled = cases.map((trick, index): Trick => {
    const { origin } = servers[index]!;
    return JSON.parse(
      JSON.stringify(trick, bigintAsText).replaceAll('{origin}', origin).replaceAll('{key}', apiKey),
    );
  });
  for (const [index, { responses }] of filled.entries()) servers[index]!.decide(inOrder(...responses));
  const settings = filled.map(({ baseUrl, apiKey: key = apiKey, idempotencyKey }, index) => ({
    baseUrl: baseUrl ?? servers[index]!.baseUrl,
    apiKey: key,
    idempotencyKey,
  }));
  const { stdout, stderr } = await run(client, cwd, 'program', { CASES: JSON.stringify(settings) });
  await Promise.all(servers.map((server) => server.close()));
  if (stderr || !stdout) throw new Error(`The program failed:\n${stderr}`);

  return (JSON.parse(stdout) as Result[]).map(({ pets, error, client: shown }, index) => {
    const { requests } = servers[index]!;
    const { error: wanted, waits = [], idempotencyKey } = filled[index]!;
    const bodies = requests.map(({ body }) => body);
    const times = requests.map(({ time }) => time);
    return [
      cases[index]!.title,
      {
        targets: requests.map(({ target }) => target),
        printed: pets.map((pet) => (parseJson(pet) as Pet).categoryId),
        // If the error is the expected one, only the expected part of its text is compared.
        error: wanted !== undefined && error.includes(wanted) ? cases[index]!.error : error,
        waitedTooShort: waits.filter((wait, gap) => times[gap + 1]! - times[gap]! < wait),
        authorizations: [...new Set(requests.map(({ headers }) => headers.authorization))],
        idempotencyKeys: [...new Set(requests.map(({ headers }) => headers['idempotency-key']))],
        // All attempts must send the same bytes.
        created: idempotencyKey ? [...new Set(bodies)].map(parseJson) : [],
        showsKey: `${error}${shown}`.includes(apiKey.slice(-36)),
        showsControlCharacters: /[^\P{Cc}\n]/u.test(`${error}${shown}`),
      },
    ] as const;
  });
}

function expectedOf({ requests, prints, error, idempotencyKey }: Trick) {
  const isSent = requests.length > 0;
  return {
    targets: requests,
    printed: prints,
    error: error ?? '',
    waitedTooShort: [],
    authorizations: isSent ? [`Bearer ${apiKey}`] : [],
    idempotencyKeys: isSent ? [idempotencyKey] : [],
    created: isSent && idempotencyKey ? [{ name: 'Rex “é”', categoryId: 2n ** 63n - 1n }] : [],
    showsKey: false,
    showsControlCharacters: false,
  };
}

const bigintAsText = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);

/** Creates a folder with a client, its program above, and its example in docs/clients.md. */
function filesOf(client: Client, source: string): string {
  const files = mkdtempSync(join(folder, 'client-'));
  writeFileSync(join(files, 'package.json'), '{"type":"module"}');
  writeFileSync(join(files, `pets.${client.extension}`), source);
  writeFileSync(join(files, `program.${client.extension}`), client.program);
  writeFileSync(join(files, `try.${client.extension}`), exampleOf(client).code);
  return files;
}

function exampleOf({ extension }: Client) {
  const blocks = codeBlocksIn(readFileSync('docs/clients.md', 'utf8'));
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
    promisify(execFile)(command, [`${program}.${extension}`], {
      cwd,
      env,
      timeout: PROOF_LIMIT_MILLISECONDS,
    }),
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
