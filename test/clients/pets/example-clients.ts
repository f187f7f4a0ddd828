import { describe } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { codeBlocksIn, filesPrintedIn } from '../../support/markdown-code.ts';
import { type Outcome, outcomeOf, sharedCompileCache } from '../../support/run-command.ts';

/** A client in docs/clients and the commands to run the client. */
export interface ExampleClient {
  /** Heading of the client's section in docs/clients/pets.md. */
  name: string;
  /** Command that fails if the client cannot run on this machine. */
  check: [file: string, ...parameters: string[]];
  /** Command that runs a program whose file name is appended. */
  run: [file: string, ...parameters: string[]];
  library: string;
  /** File of the example in docs/clients/pets.md. A block `text output` follows the example. */
  example: string;
  /** The timeout in the client's code, and the one-second timeout that replaces it in tests. */
  timeout: [written: string, short: string];
  /** Whether the client converts base URLs with non-ASCII hosts. Otherwise, it rejects them. */
  convertsHosts: boolean;
  /**
   * Program that prints the pets of a list, one JSON pet or array per line. Arguments: the status and limit. An empty
   * argument stands for the language's absent value.
   */
  list: string;
  /**
   * Program that creates and prints a pet. Arguments: a JSON file and an Idempotency-Key. An empty key and a missing
   * `status` stand for the language's absent value.
   */
  create: string;
  /** Program that prints the client object in each way that the language has. */
  show: string;
  /** Programs that use what only this language has, with the paths that they request, and what they print. */
  others: { title: string; program: string; requests: string[]; prints: string }[];
}

export const document = readFileSync('docs/clients/pets.md', 'utf8');
const files = filesPrintedIn(document);
for (const file of readdirSync('docs/clients')) files.set(file, readFileSync(`docs/clients/${file}`, 'utf8'));

const typescript = `
      import { readFileSync } from 'node:fs';
      import { inspect } from 'node:util';
      import { type NewPet, type PetStatus, PetStore } from './pets.ts';
      const [, , first = '', second = ''] = process.argv;
      const store = new PetStore(process.env['BASE_URL']!, process.env['API_KEY']!);
      const exact = (_key: string, value: unknown) => typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
      const print = (value: unknown) => console.log(JSON.stringify(value, exact));`;
const python = `
import json, os, sys, pets
store = pets.PetStore(os.environ["BASE_URL"], os.environ["API_KEY"])
first, second = (sys.argv + ["", ""])[1:3]`;

/** Returns the path of Python itself, because `python3` can be a script that finds it slowly. */
function pythonPath(): string {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
  return stdout?.trim() || 'python3';
}

export const clients: ExampleClient[] = [
  {
    name: 'TypeScript',
    check: [process.execPath, '--version'],
    run: [process.execPath],
    library: 'pets.ts',
    example: 'try.ts',
    timeout: ['timeout(30_000)', 'timeout(1_000)'],
    convertsHosts: true,
    list: `${typescript}
      const status = (first || undefined) as PetStatus | undefined;
      for await (const pet of store.listPets({ status, limit: second ? Number(second) : undefined })) print(pet);`,
    create: `${typescript}
      const pet = JSON.parse(readFileSync(first, 'utf8'), (name, value, { source }) => name === 'categoryId' ? BigInt(source!) : value);
      print(await store.createPet({ status: undefined, ...pet } as NewPet, second || undefined!));`,
    show: `${typescript}
      console.log(store, inspect({ store }, { showHidden: true, depth: 9 }), Object.entries(store), String(store));
      print({ store });`,
    others: [
      {
        title: 'treats null in a query as absent',
        program: `${typescript}
      for await (const { id } of store.listPets({ status: null, limit: null } as never)) console.log(String(id));`,
        requests: ['/v1/pets?limit=100'],
        prints: '1\n',
      },
    ],
  },
  {
    name: 'Python',
    check: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'],
    run: [pythonPath()],
    library: 'pets.py',
    example: 'try.py',
    timeout: ['TIMEOUT = 30', 'TIMEOUT = 1'],
    convertsHosts: false,
    list: `${python}
for pet in store.list_pets(status=first or None, limit=int(second) if second else None):
    print(json.dumps(pet), flush=True)`,
    create: `${python}
pet = json.load(open(first, encoding="utf-8"))
print(json.dumps(store.create_pet({"status": None, **pet}, second or None)))`,
    show: `${python}
print(store, repr(store), [store], f"{store!r} {store!a}")
import pprint; pprint.pprint({"store": store})`,
    others: [
      {
        title: 'rejects a UUID object as an idempotency key',
        program: `${python}
import uuid
try: store.create_pet({"name": "Rex", "categoryId": 7}, uuid.uuid4())
except ValueError as error: print(error)`,
        requests: [],
        prints: 'An idempotency key of ASCII characters is missing. Generate one per pet, and store it.\n',
      },
      {
        title: 'does not send a pet with NaN, which is not JSON',
        program: `${python}
try: store.create_pet({"name": "Rex", "categoryId": float("nan")}, "a-key")
except ValueError: print("ValueError")`,
        requests: [],
        prints: 'ValueError\n',
      },
      {
        title: 'raises errors that can be passed between processes',
        program: `${python}
import pickle
try: store.create_pet({"name": "Rex", "categoryId": 7}, "a-key")
except pets.PetStoreError as error:
    copy = pickle.loads(pickle.dumps(error))
    print(copy, copy.status, copy.code, copy.request_id)`,
        requests: ['/v1/pets'],
        prints: '200: The body is not a JSON object: [{"id":1}] (request a-1) 200 None a-1\n',
      },
    ],
  },
];

/** Returns the output that docs/clients/pets.md prints below the client's example. */
export function outputOf({ example: file }: ExampleClient): string {
  const blocks = codeBlocksIn(document);
  const output = blocks[blocks.findIndex(({ info }) => info.endsWith(` ${file}`)) + 1];
  if (output?.info !== 'text output') throw new Error(`No output follows ${file} in docs/clients/pets.md.`);
  return output.code;
}

/** Returns the content of a client's file or of an example in docs/clients/pets.md. */
export function fileOf(name: string): string {
  const code = files.get(name);
  if (code === undefined) throw new Error(`There is no ${name} in docs/clients.`);
  return code;
}

/** TypeScript lines that each cause a compiler error if they are appended to `try.ts`. */
export const wrongUses = [
  `rex.colour;`,
  `rex.id satisfies number;`,
  `rex.status satisfies string;`,
  `await store.createPet({ name: '', categoryId: 7 }, idempotencyKey);`,
  `await store.createPet({ name: '', categoryId: 7n, status: 'nonsense' }, idempotencyKey);`,
  `await store.createPet({ name: '' }, idempotencyKey);`,
  `await store.createPet({ name: '', categoryId: 7n });`,
  `await store.createPet({ name: '', categoryId: 7n }, undefined);`,
  `await store.createPet({ name: '', categoryId: 7n, colour: '' }, idempotencyKey);`,
  `store.listPets({ cursor: 'x' });`,
  `store.listPets({ limit: '5' });`,
  `store.listPets({ status: 'nonsense' });`,
  `new PetStore('https://api.example.com/v1');`,
  `new PetStoreError(500, 'x');`,
];

/** Returns `describe`, or `describe.skip` if the client cannot run on this machine. */
export function describeFor({ check: [file, ...parameters] }: ExampleClient): typeof describe.skip {
  return spawnSync(file, parameters).status === 0 ? describe : describe.skip;
}

/** Creates a folder that contains all clients, their examples and the packages in `@types`. */
export function unpack(parent: string): string {
  const folder = mkdtempSync(join(parent, 'clients-'));
  for (const [file, code] of files) writeFileSync(join(folder, file), code);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve('node_modules/@types'), join(folder, 'node_modules/@types'), 'junction');
  return folder;
}

/** Replaces the timeout of an attempt in the client's code with a second. */
export function shortenTimeout(folder: string, { library, timeout: [written, short] }: ExampleClient): void {
  const file = join(folder, library);
  const code = readFileSync(file, 'utf8');
  if (code.split(written).length !== 2)
    throw new Error(`${library} does not contain ${written} exactly once.`);
  writeFileSync(file, code.replace(written, short));
}

/** Runs `program`, which is either the file name of an example or source code. */
export async function runIn(
  folder: string,
  client: ExampleClient,
  program: string,
  parameters: string[],
  environment: Record<'BASE_URL' | 'API_KEY', string>,
): Promise<Outcome> {
  let file = program;
  if (!files.has(program)) {
    const id = createHash('sha256').update(program).digest('hex').slice(0, 16);
    file = client.library.replace('pets', `driver_${id}`);
    // Another test can be running the same program.
    if (!existsSync(join(folder, file))) writeFileSync(join(folder, file), program);
  }
  // The environment lacks the developer's settings, such as proxies, because they must not affect the client. In a time
  // zone other than GMT, a client must still read HTTP dates.
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    TZ: 'PST8',
    ...sharedCompileCache(),
    ...environment,
  };
  const [command, ...options] = client.run;
  return outcomeOf(promisify(execFile)(command, [...options, file, ...parameters], { cwd: folder, env }));
}
