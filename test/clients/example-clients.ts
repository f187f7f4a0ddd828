import { describe } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseJson } from '../../shared/contract/json.ts';
import type { Pet } from '../../shared/contract/schemas.ts';
import { filesPrintedIn } from '../support/markdown-code.ts';
import type { Outcome } from '../support/run-command.ts';

/** One of the clients that docs/clients.md prints, and how to call it from outside. */
export interface ExampleClient {
  /** The heading that it stands under. */
  name: string;
  /** The program that runs it, with what tells whether it is there and new enough. */
  program: [file: string, ...check: string[]];
  run: [file: string, ...parameters: string[]];
  /** The file to copy, as the document names it. */
  library: string;
  /** The files that use it, in the order in which they stand there, with the exit code of each and what it prints. */
  uses: { file: string; ends: number; shows: RegExp[] }[];
  /** Its time-out, as it is written there, and one of a second. */
  timeout: [written: string, short: string];
  /** Lists pets with the status and limit in its arguments, and prints them as JSON, in arrays or each by itself. */
  list: string;
  /** Adds the pet in the JSON file and with the Idempotency-Key in its arguments, and prints it. The shell keeps a key of its own. */
  create: string;
}

export const document = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
const printed = filesPrintedIn(document);
const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

export const clients: ExampleClient[] = [
  {
    name: 'curl',
    program: ['curl', '--fail-with-body', '--retry-all-errors', '--version'],
    run: ['sh'],
    library: 'pets.sh',
    uses: [
      {
        file: 'try.sh',
        ends: 22,
        shows: [
          /^(\{"id":\d+,"name":"Rex","categoryId":9223372036854775807,"status":"available"\})\n\1\n\[\1/,
          /^\{"code":"invalid_request","message":"limit must/m,
        ],
      },
      {
        file: 'get-pet.sh',
        ends: 0,
        shows: [
          /^HTTP\S+ 200/,
          /^Deprecation: @\d+/im,
          /^Sunset: /im,
          /^Link: <\S+>; rel="successor-version"/im,
        ],
      },
    ],
    timeout: ['--max-time 30', '--max-time 1'],
    list: `. ./pets.sh; all_pages "status=$1&limit=$2"`,
    create: `. ./pets.sh; create_pet "$1"`,
  },
  {
    name: 'TypeScript',
    program: [process.execPath, '--version'],
    run: [process.execPath],
    library: 'pets.ts',
    uses: [
      {
        file: 'try.ts',
        ends: 0,
        shows: [/^\d+n 9223372036854775807n\n/, /^Rex 9223372036854775807n$/m, /^invalid_request name must/m],
      },
    ],
    timeout: ['timeout(30_000)', 'timeout(1_000)'],
    list: `
      import { type ListQuery, type Pet, listPets } from './pets.ts';
      const { BASE_URL: baseUrl = '', API_KEY: apiKey = '' } = process.env;
      const exact = (_key: string, value: unknown) => typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
      const query = { status: process.argv[2] as Pet['status'], limit: Number(process.argv[3]) } as ListQuery;
      for await (const pet of listPets({ baseUrl, apiKey }, query)) console.log(JSON.stringify(pet, exact));`,
    create: `
      import { readFileSync } from 'node:fs';
      import { type NewPet, createPet } from './pets.ts';
      const { BASE_URL: baseUrl = '', API_KEY: apiKey = '' } = process.env;
      const exact = (_key: string, value: unknown) => typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
      const [, , file = '', key = ''] = process.argv;
      const pet = JSON.parse(readFileSync(file, 'utf8'), (name, value, { source }) => name === 'categoryId' ? BigInt(source!) : value);
      console.log(JSON.stringify(await createPet({ baseUrl, apiKey }, pet as NewPet, key), exact));`,
  },
  {
    name: 'Python',
    program: ['python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 9))'],
    run: ['python3'],
    library: 'pets.py',
    uses: [
      {
        file: 'try.py',
        ends: 0,
        shows: [
          /^\{'id': \d+, .*'categoryId': 9223372036854775807/,
          /^Rex 9223372036854775807$/m,
          /^invalid_request name must/m,
        ],
      },
    ],
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
];

/** Skips the tests, and tells why, on a machine that has not what runs the client. */
export function describeWhereItRuns(
  { name, program: [file, ...check] }: ExampleClient,
  tests: () => void,
): void {
  if (spawnSync(file, check).status === 0) {
    describe(`the client in ${name}`, () => {
      tests();
    });
  } else {
    // oxlint-disable-next-line jest/no-disabled-tests -- a machine need not have all languages
    describe.skip(`the client in ${name} (skipped: ${file} is missing or too old on this machine)`, () => {
      tests();
    });
  }
}

/** A folder with all files that the document prints, and packages as after `npm install`. */
export function unpack(parent: string): string {
  const folder = mkdtempSync(join(parent, 'clients-'));
  for (const [file, code] of printed) writeFileSync(join(folder, file), code);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(projectRoot, 'node_modules/@types'), join(folder, 'node_modules/@types'), 'junction');
  return folder;
}

/** Runs a file of the folder, or this text as one. */
export function runIn(
  folder: string,
  { run: [file, ...options], library }: ExampleClient,
  program: string,
  parameters: string[],
  environment: Record<'BASE_URL' | 'API_KEY', string>,
): Promise<Outcome> {
  const name = printed.has(program) ? program : library.replace('pets', 'driver');
  if (!printed.has(program)) writeFileSync(join(folder, name), program);
  return new Promise((resolve) => {
    execFile(
      file,
      [...options, name, ...parameters],
      // Without what the developer has set: proxies, a .curlrc.
      { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder, ...environment } },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
        resolve({ code, stdout, stderr });
      },
    );
  });
}

/** The pets that `list` or `create` printed. */
export function petsIn(stdout: string): Pet[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.flatMap((line) => parseJson(line) as Pet | Pet[]);
}
