import { execFile, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import type { NewPet, Pet } from '../../shared/contract/schemas.ts';
import { hasTools, toolModules } from '../support/tools.ts';

/** A generator in the table of docs/clients.md, and how to build and run a program with the client that it generates. */
export interface Generator {
  /** The first cell of its row. */
  name: string;
  /** Programs on the PATH, or commands that succeed where they are installed. `VERSION` stands for that in the row. */
  needs: string[];
  /** The program, in test/clients/generated, and where it belongs beside the generated files. */
  program: [source: string, target: string];
  build: string;
  run: string;
}

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));
const check = `tsc --noEmit --strict --module esnext --moduleResolution bundler --target es2024 --types node --typeRoots
  ${projectRoot}/node_modules/@types --allowImportingTsExtensions driver.ts`;
const typescript = {
  needs: [],
  build: `${check.replace('\n', '')} && esbuild driver.ts --bundle --platform=node --format=esm --outfile=driver.mjs`,
  run: 'node driver.mjs',
};
const openapiGenerator = 'openapi-generator-cli version | grep -F VERSION';
const python = { build: 'python3 -m compileall -q client', run: 'python3 client/driver.py' };

/** A call of createPet, getPet or listPets, and the call's result in the client's types. */
type Call = { apiKey: string } & ({ key: string; pet: NewPet } | { id: bigint } | { cursor?: string });
interface Result {
  data?: Pet | Pet[] | null;
  error?: { code: string; message: string } | null;
  link?: string | null;
}

export const generators: Generator[] = [
  { name: '@hey-api/openapi-ts', ...typescript, program: ['hey-api.ts', 'driver.ts'] },
  { name: 'openapi-typescript', ...typescript, program: ['openapi-fetch.ts', 'driver.ts'] },
  {
    name: 'openapi-generator java',
    needs: [openapiGenerator, 'mvn', 'javac'],
    program: ['OpenapiGeneratorJava.java', 'client/src/main/java/Driver.java'],
    build: 'mvn -q -B -f client compile dependency:build-classpath -Dmdep.outputFile=classpath',
    run: 'java -cp client/target/classes:$(cat client/classpath) Driver',
  },
  {
    name: 'openapi-generator python',
    ...python,
    needs: [openapiGenerator, 'python3 -c "import dateutil, pydantic, urllib3"'],
    program: ['openapi_generator.py', 'client/driver.py'],
  },
  {
    name: 'openapi-generator go',
    needs: [openapiGenerator, 'go'],
    program: ['openapi-generator.go', 'client/driver/main.go'],
    build: 'cd client && go build -o ../run ./driver',
    run: './run',
  },
  {
    name: 'openapi-python-client',
    ...python,
    needs: ['openapi-python-client --version | grep -F VERSION', 'python3 -c "import attrs, httpx"'],
    program: ['openapi_python_client.py', 'client/driver.py'],
  },
  {
    name: 'oapi-codegen',
    needs: ['oapi-codegen --version | grep -F VERSION', 'go'],
    program: ['oapi-codegen.go', 'driver/main.go'],
    build: 'go mod init petstore && go mod tidy && go build -o run ./driver',
    run: './run',
  },
];

const document = readFileSync(join(projectRoot, 'docs/clients.md'), 'utf8');
const path = [join(projectRoot, 'node_modules/.bin'), join(toolModules, '.bin'), process.env['PATH']];
const environment = { ...process.env, PATH: path.join(':') };

/** @returns what is missing on this machine, or undefined if the client can be generated, built and run */
export function missingProgram(generator: Generator): string | undefined {
  const { needs, name } = generator;
  if (needs.length === 0 && !hasTools()) return 'npm ci --prefix test/tools';
  const version = cellsOf(generator)[0]!.slice(name.length + 1);
  return needs.find((need) => {
    const command = need.includes(' ') ? need.replace('VERSION', `${version}.`) : `command -v ${need}`;
    return spawnSync('sh', ['-c', command], { env: environment }).status !== 0;
  });
}

/** @returns the cells of the generator's row: its name and version, `compiles`, `int64`, `reads every page`, command */
function cellsOf({ name }: Generator): string[] {
  const rows = document.split('\n').filter((line) => line.startsWith(`| ${name} `));
  if (rows.length !== 1) throw new Error(`docs/clients.md has ${rows.length} rows of ${name}.`);
  return rows[0]!.slice(2).split(' | ');
}

/** Whether every int64 stays exact in its client, as the document says. */
export function keepsInt64(generator: Generator): boolean {
  return cellsOf(generator)[2] === 'exact';
}

/** @returns the generator's command in the document, with the installed packages in place of `npx` */
function commandOf(generator: Generator): string {
  const command = cellsOf(generator)[4]!.replaceAll('`', '');
  for (const [, name = '', version] of command.matchAll(/(?<=npx |-p )(\S+)@([\d.]+)/g)) {
    const manifest = JSON.parse(readFileSync(join(toolModules, name, 'package.json'), 'utf8'));
    if (!manifest.version.startsWith(`${version}.`))
      throw new Error(`${name} ${manifest.version} is not ${version}.`);
  }
  return command.replace(/^npx (?:-p \S+ )+/, '').replace(/^npx (\S+)@\S+/, '$1');
}

/** Generates a client and builds it with its program. @returns the folder */
export async function build(generator: Generator, parent: string): Promise<string> {
  const folder = mkdtempSync(join(parent, 'generated-'));
  for (const file of ['openapi.json', 'openapi-3.0.json'])
    symlinkSync(join(projectRoot, file), join(folder, file));
  symlinkSync(toolModules, join(folder, 'node_modules'), 'junction');
  await runIn(folder, commandOf(generator));
  const [source, target] = generator.program;
  mkdirSync(dirname(join(folder, target)), { recursive: true });
  copyFileSync(fileURLToPath(new URL(`generated/${source}`, import.meta.url)), join(folder, target));
  await runIn(folder, generator.build);
  return folder;
}

/** Starts the program, which reads a call from each line of JSON and prints its result as one. */
export function start({ run }: Generator, folder: string, additions: NodeJS.ProcessEnv) {
  const program = spawn('sh', ['-c', run], { cwd: folder, env: { ...environment, ...additions } });
  let errors = '';
  program.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  program.stdin.on('error', () => {}); // it has ended, which `send` reports
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return {
    async send(call: Call): Promise<Result> {
      program.stdin.write(`${stringifyJson(call)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`The program has ended: ${errors}`);
      return parseJson(value) as Result;
    },
    end: () => program.stdin.end(),
  };
}

async function runIn(cwd: string, command: string): Promise<void> {
  await promisify(execFile)('sh', ['-c', command], { cwd, env: environment }).catch((cause) => {
    throw new Error(`${command}\n${cause.stdout}${cause.stderr}`, { cause });
  });
}
