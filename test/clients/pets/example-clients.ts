import { describe } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { filesPrintedIn } from '../../support/markdown-code.ts';
import { type Outcome, outcomeOf } from '../../support/run-command.ts';

/** A client in docs/clients and the commands to run the client. */
export interface ExampleClient {
  /** Heading of the client's section in docs/clients/pets.md. */
  name: string;
  /** Command that fails if the client cannot run on this machine. */
  check: [file: string, ...parameters: string[]];
  run: [file: string, ...parameters: string[]];
  library: string;
  /** The example in docs/clients/pets.md: its file, its exit code and patterns that its output must match. */
  uses: { file: string; exitCode?: number; prints: RegExp[] };
  /** The timeout in the client's code, and the one-second timeout that replaces it in tests. */
  timeout: [written: string, short: string];
  /** Program that prints the pets with a status, one JSON pet or array per line. Arguments: the status and limit. */
  list: string;
  /** Program that creates and prints a pet. Arguments: a JSON file and, except in the shell, an Idempotency-Key. */
  create: string;
}

export const document = readFileSync('docs/clients/pets.md', 'utf8');
const files = filesPrintedIn(document);
for (const file of readdirSync('docs/clients')) files.set(file, readFileSync(`docs/clients/${file}`, 'utf8'));

const typescript = `
      const { BASE_URL: baseUrl = '', API_KEY: apiKey = '' } = process.env;
      const exact = (_key: string, value: unknown) => typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;`;
const go = `package main
import ("context"; "encoding/json"; "log"; "net/url"; "os")
var client, _ = Client{os.Getenv("BASE_URL"), os.Getenv("API_KEY")}, url.Values{}
func check(err error) { if err != nil { log.Fatal(err) } }`;
/** Patterns that match the list and the error response in the output of all examples except the shell's. */
const listAndError = [
  /^\w+ 9223372036854775807(?:n| <nil>)?$/m,
  /^invalid_request 400 invalid_request: \w+ must .* \(request [\w-]+\)$/m,
];

export const clients: ExampleClient[] = [
  {
    name: 'Shell',
    check: ['curl', '--version'],
    run: ['sh'],
    library: 'pets.sh',
    uses: {
      file: 'try.sh',
      exitCode: 22,
      prints: [
        /^(\{"id":\d+,"\w+":"\w+","\w+":9223372036854775807,"status":"available"\})\n\1\n(\[\1.*)\n\2\n/,
        /^400 \(request [\w-]+\): \{"code":"invalid_request","message":"limit must/m,
      ],
    },
    timeout: ['--max-time 30', '--max-time 1'],
    list: `. ./pets.sh; all_pages "status=$1&limit=$2"`,
    create: `. ./pets.sh; create_pet "$1"`,
  },
  {
    name: 'TypeScript',
    check: [process.execPath, '--version'],
    run: [process.execPath],
    library: 'pets.ts',
    uses: { file: 'try.ts', prints: [/^\d+n 9223372036854775807n\n/, ...listAndError] },
    timeout: ['timeout(30_000)', 'timeout(1_000)'],
    list: `
      import { type ListQuery, type Pet, listPets } from './pets.ts';${typescript}
      const query = { status: process.argv[2] as Pet['status'], limit: Number(process.argv[3]) } as ListQuery;
      for await (const pet of listPets({ baseUrl, apiKey }, query)) console.log(JSON.stringify(pet, exact));`,
    create: `
      import { readFileSync } from 'node:fs';
      import { type NewPet, createPet } from './pets.ts';${typescript}
      const [, , file = '', key = ''] = process.argv;
      const pet = JSON.parse(readFileSync(file, 'utf8'), (name, value, { source }) => name === 'categoryId' ? BigInt(source!) : value);
      console.log(JSON.stringify(await createPet({ baseUrl, apiKey }, pet as NewPet, key), exact));`,
  },
  {
    name: 'Python',
    check: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'],
    run: ['python3'],
    library: 'pets.py',
    uses: { file: 'try.py', prints: [/^\{'id': \d+, .*: 9223372036854775807/, ...listAndError] },
    timeout: ['timeout=30', 'timeout=1'],
    list: `
import json, os, sys, pets
for pet in pets.list_pets(os.environ["BASE_URL"], os.environ["API_KEY"], status=sys.argv[1], limit=int(sys.argv[2])):
    print(json.dumps(pet))`,
    create: `
import json, os, sys, pets
pet = json.load(open(sys.argv[1], encoding="utf-8"))
print(json.dumps(pets.create_pet(os.environ["BASE_URL"], os.environ["API_KEY"], pet, sys.argv[2])))`,
  },
  {
    name: 'Go',
    check: ['go', 'version'],
    run: ['go', 'run', 'pets.go'],
    library: 'pets.go',
    uses: {
      file: 'try.go',
      prints: [/^\{\d+ \w+ 9223372036854775807 available\b.*\} <nil>\n/, ...listAndError],
    },
    timeout: ['30 * time.Second', '1 * time.Second'],
    list: `${go}
func main() {
  query := url.Values{"status": {os.Args[1]}, "limit": {os.Args[2]}}
  for pet, err := range client.ListPets(context.Background(), query) {
    check(err)
    json.NewEncoder(os.Stdout).Encode(pet)
  }
}`,
    create: `${go}
func main() {
  var pet Pet
  body, _ := os.ReadFile(os.Args[1])
  check(json.Unmarshal(body, &pet))
  created, err := client.CreatePet(context.Background(), pet, os.Args[2])
  check(err)
  json.NewEncoder(os.Stdout).Encode(created)
}`,
  },
];

/** TypeScript lines that each cause a compiler error if they are appended to `try.ts`. */
export const wrongUses = [
  `rex.colour;`,
  `rex.id satisfies number;`,
  `rex.status satisfies string;`,
  `await createPet(service, { name: '', categoryId: 7 }, idempotencyKey);`,
  `await createPet(service, { name: '', categoryId: 7n, status: 'nonsense' }, idempotencyKey);`,
  `await createPet(service, { name: '' }, idempotencyKey);`,
  `await createPet(service, { name: '', categoryId: 7n });`,
  `listPets(service, { cursor: 'x' });`,
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

/** Runs `program`, which is either the file name of an example or source code. */
export function runIn(
  folder: string,
  { run: [file, ...options], library }: ExampleClient,
  program: string,
  parameters: string[],
  environment: Record<'BASE_URL' | 'API_KEY', string>,
): Promise<Outcome> {
  const name = files.has(program) ? program : library.replace('pets', 'driver');
  if (!files.has(program)) writeFileSync(join(folder, name), program);
  // Omits the developer's settings, such as proxies and .curlrc, because they must not affect the client.
  const { PATH, GOCACHE = join(homedir(), '.cache/go-build') } = process.env;
  const settings = { cwd: folder, env: { PATH, GOCACHE, HOME: folder, ...environment } };
  return outcomeOf(promisify(execFile)(file, [...options, name, ...parameters], settings));
}
