import { describe } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { asOpenApi30 } from '../../infra/documents/openapi/openapi-3.0.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { codeBlocksIn } from '../support/markdown-code.ts';
import { hasTools, toolModules } from '../support/tools.ts';

const typesFolder = resolve('node_modules/@types');
const tsc = `tsc --noEmit --strict --module esnext --moduleResolution bundler --target es2024 --types node --typeRoots ${typesFolder} --allowImportingTsExtensions`;
const TYPESCRIPT = {
  build: `${tsc} driver.ts && esbuild driver.ts --bundle --platform=node --format=esm --outfile=driver.mjs`,
  run: 'node driver.mjs',
  roundsIntegers: true,
};
const GO = {
  compile:
    'rm -rf client/go.* client/test && go mod init example.com/driver && go mod tidy && go build ./client',
  build: 'go build -o driver .',
  run: './driver',
};
const PYTHON = { compile: 'python3 -m compileall -q client', run: 'env PYTHONPATH=client python3 driver.py' };

export interface Generator {
  /** Text that the generator's command in docs/clients.md contains. */
  name: string;
  /** Command that fails if a required tool is missing. @default - only the packages in test/tools are required */
  needs?: string;
  /** Command that compiles the client. */
  compile: string;
  /** The files of a driver, which is a program that uses the client. Maps file names to file names in `drivers`. */
  files: Record<string, string>;
  /** Command that compiles the driver. @default - the language needs no compiler */
  build?: string;
  /** Command that runs the driver. */
  run: string;
  roundsIntegers?: boolean;
}

export const generators: Generator[] = [
  {
    name: 'openapi-ts -i',
    compile: `${tsc} client/index.ts`,
    files: { 'driver.ts': 'hey-api.ts' },
    ...TYPESCRIPT,
  },
  {
    name: 'openapi-typescript@7',
    compile: `${tsc} *.d.ts`,
    files: { 'driver.ts': 'openapi-fetch.ts' },
    ...TYPESCRIPT,
  },
  {
    name: 'openapi-generator-cli generate -g python',
    files: { 'driver.py': 'openapi-generator.py' },
    needs: 'openapi-generator-cli version && python3 -c "import dateutil, pydantic, urllib3"',
    ...PYTHON,
  },
  {
    name: 'openapi-python-client generate',
    files: { 'driver.py': 'openapi_python_client.py' },
    needs: 'openapi-python-client --version && python3 -c "import attrs, dateutil, httpx"',
    ...PYTHON,
  },
  {
    name: 'openapi-generator-cli generate -g java',
    needs: 'openapi-generator-cli version && mvn --version',
    compile:
      'mvn -q -B -f client -Djava.version=17 compile dependency:build-classpath -Dmdep.outputFile="$PWD/classpath"',
    files: { 'Driver.java': 'Driver.java' },
    build: 'javac -cp "client/target/classes:$(cat classpath)" Driver.java',
    run: 'java -cp ".:client/target/classes:$(cat classpath)" Driver',
  },
  {
    name: 'openapi-generator-cli generate -g go',
    files: { 'main.go': 'main.go', 'driver.go': 'openapi-generator.go' },
    needs: 'openapi-generator-cli version && go version',
    ...GO,
  },
  {
    name: 'oapi-codegen -generate',
    files: { 'main.go': 'main.go', 'driver.go': 'oapi-codegen.go' },
    needs: 'oapi-codegen -version && go version',
    ...GO,
  },
  {
    name: 'ogen --target',
    files: { 'main.go': 'main.go', 'driver.go': 'ogen.go' },
    needs: 'ogen -version && go version',
    ...GO,
  },
];

const document = readFileSync('docs/clients.md', 'utf8');
const path = [resolve('node_modules/.bin'), join(toolModules, '.bin'), process.env['PATH']];
export const environment = { ...process.env, PATH: path.join(':') };

/** Calls `describe`, or `describe.skip` if this machine lacks a tool that the generator or its client needs. */
export function describeClientOf({ name, needs }: Generator, testClient: () => void): void {
  const canRun = needs ? spawnSync('sh', ['-c', needs], { env: environment }).status === 0 : hasTools();
  const title = `the client of ${name} (needs ${needs ?? 'npm ci --prefix test/tools'})`;
  (canRun ? describe : describe.skip)(title, testClient);
}

/** Returns the generator's command from docs/clients.md. @throws Error if another version of a package is installed */
function commandOf({ name: generator }: Generator): string {
  const commands = codeBlocksIn(document).flatMap(({ code }) => code.replaceAll('\\\n', '').split('\n'));
  const command = commands.find((line) => line.includes(generator) && !/^(?:pip|go) install/.test(line))!;
  for (const [, name = '', version] of command.matchAll(/(?<=npx |-p )(\S+)@([\d.]+)/g)) {
    const manifest = JSON.parse(readFileSync(join(toolModules, name, 'package.json'), 'utf8'));
    if (!manifest.version.startsWith(`${version}.`))
      throw new Error(`docs/clients.md requires ${name} ${version} in test/tools, not ${manifest.version}.`);
  }
  // Removes npx and versions, so that the command uses the installed packages.
  return command.replace(/^npx (?:-p \S+ )+/, '').replace(/^npx (\S+)@\S+/, '$1');
}

/** Generates and compiles a client. Returns the folder with the client. */
export async function generate(generator: Generator, parent: string): Promise<string> {
  const folder = mkdtempSync(join(parent, 'generated-'));
  const openApi = readFileSync('openapi.json', 'utf8');
  writeFileSync(join(folder, 'openapi.json'), openApi);
  writeFileSync(join(folder, 'openapi-3.0.json'), stringifyJson(asOpenApi30(parseJson(openApi))));
  symlinkSync(toolModules, join(folder, 'node_modules'), 'junction');
  await runIn(folder, commandOf(generator));
  await runIn(folder, generator.compile);
  return folder;
}

/** Generates a client, and compiles the driver from the folder `drivers`. Returns the folder with both. */
export async function build(generator: Generator, drivers: string, parent: string): Promise<string> {
  const folder = await generate(generator, parent);
  for (const [to, from] of Object.entries(generator.files))
    copyFileSync(join(drivers, from), join(folder, to));
  if (generator.build) await runIn(folder, generator.build);
  return folder;
}

async function runIn(cwd: string, command: string): Promise<void> {
  await promisify(execFile)('sh', ['-c', command], { cwd, env: environment }).catch((cause) => {
    throw new Error(`${command}\n${cause.stdout}${cause.stderr}`, { cause });
  });
}
