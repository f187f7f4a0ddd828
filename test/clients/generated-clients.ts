import { execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import type { NewPet, Pet } from '../../shared/contract/schemas.ts';
import { codeBlocksIn } from '../support/markdown-code.ts';
import { toolModules } from '../support/tools.ts';

/** A generator in docs/clients.md. */
export interface Generator {
  /** Heading of the generator's section. */
  name: string;
  /** File in test/clients/generated that uses the generated client. */
  program: string;
}

const check = `tsc --noEmit --strict --module esnext --moduleResolution bundler --target es2024 --types node --typeRoots
  ${resolve('node_modules/@types')} --allowImportingTsExtensions driver.ts`;
const bundle = 'esbuild driver.ts --bundle --platform=node --format=esm --outfile=driver.mjs';

type Call = { apiKey: string } & ({ key: string; pet: NewPet } | { id: bigint } | { cursor?: string });
interface Result {
  data?: Pet | Pet[] | null;
  error?: { code: string; message: string } | null;
  link?: string | null;
}

/** The generators that npm installs. Generators for other languages were tested by hand. */
export const generators: Generator[] = [
  { name: '@hey-api/openapi-ts', program: 'hey-api.ts' },
  { name: 'openapi-typescript', program: 'openapi-fetch.ts' },
];

const document = readFileSync('docs/clients.md', 'utf8');
const path = [resolve('node_modules/.bin'), join(toolModules, '.bin'), process.env['PATH']];
const environment = { ...process.env, PATH: path.join(':') };

/** Returns the generator's command in docs/clients.md without `npx`, so that it uses the installed packages. */
function commandOf({ name: generator }: Generator): string {
  const [, section = ''] = document.split(`\n### ${generator}\n`);
  const command = codeBlocksIn(section)[0]!.code.trim();
  for (const [, name = '', version] of command.matchAll(/(?<=npx |-p )(\S+)@([\d.]+)/g)) {
    const manifest = JSON.parse(readFileSync(join(toolModules, name, 'package.json'), 'utf8'));
    if (!manifest.version.startsWith(`${version}.`))
      throw new Error(`${name} ${manifest.version} is installed, but docs/clients.md requires ${version}.`);
  }
  return command.replace(/^npx (?:-p \S+ )+/, '').replace(/^npx (\S+)@\S+/, '$1');
}

/** Generates a client and bundles it with its program. Returns the folder of the bundle. */
export async function build(generator: Generator, parent: string): Promise<string> {
  const folder = mkdtempSync(join(parent, 'generated-'));
  for (const file of ['openapi.json', 'openapi-3.0.json']) symlinkSync(resolve(file), join(folder, file));
  symlinkSync(toolModules, join(folder, 'node_modules'), 'junction');
  await runIn(folder, commandOf(generator));
  copyFileSync(`test/clients/generated/${generator.program}`, join(folder, 'driver.ts'));
  await runIn(folder, `${check.replace('\n', '')} && ${bundle}`);
  return folder;
}

/** Starts a program that reads one JSON call per line and prints one JSON result per line. */
export function start(folder: string, additions: NodeJS.ProcessEnv) {
  const program = spawn(process.execPath, ['driver.mjs'], {
    cwd: folder,
    env: { ...environment, ...additions },
  });
  let errors = '';
  program.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  program.stdin.on('error', () => {}); // If the program has exited, `send` throws an error.
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return {
    async send(call: Call): Promise<Result> {
      program.stdin.write(`${stringifyJson(call)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`The program has exited: ${errors}`);
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
