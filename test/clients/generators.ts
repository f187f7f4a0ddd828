import { describe } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { codeBlocksIn } from '../support/markdown-code.ts';

const GENERATOR = 'openapi-generator-cli version';
/** Commands that fail if this machine lacks a tool that a section of docs/clients.md needs, by heading. */
const needs: Record<string, string> = {
  TypeScript: 'npm view openapi-typescript@7.13.0 version',
  Python: GENERATOR,
  Go: `${GENERATOR} && go version`,
  Java: `${GENERATOR} && mvn --version`,
  Kotlin: `${GENERATOR} && mvn --version`,
  PHP: `${GENERATOR} && composer show --available guzzlehttp/guzzle`,
  Rust: 'cargo progenitor --help',
};

/** The languages for which docs/clients.md generates a client. */
export const languages = Object.keys(needs);

const path = `${dirname(process.execPath)}:${process.env['PATH']}`;
const page = readFileSync('docs/clients.md', 'utf8');

/** Returns the code blocks of a section of docs/clients.md. */
function blocksOf(heading: string) {
  const [, section] = page.split(new RegExp(`^##+ ${heading}\n`, 'm'));
  return codeBlocksIn(section!.split(/^##/m)[0]!);
}

/**
 * Calls `describe`, or `describe.skip` if this machine lacks a tool that the language's section needs. In CI,
 * TypeScript is never skipped.
 */
export function describeClientIn(language: string, testClient: () => void): void {
  const isRequired = language === 'TypeScript' && process.env['CI'] === 'true';
  const check = needs[language]!;
  (isRequired || isInstalled(check) ? describe : describe.skip)(
    `the client in ${language} (needs ${check})`,
    testClient,
  );
}

export interface Service {
  baseUrl: string;
  apiKey: string;
}

/**
 * Returns the environment variables for the commands of docs/clients.md: the service's base URL and API key, a `PATH` that
 * starts with this project's Node.js, and a setting with which npm prefers its cache.
 */
export function environmentFor({ baseUrl, apiKey }: Service): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: path,
    BASE_URL: baseUrl,
    API_KEY: apiKey,
    npm_config_prefer_offline: 'true',
  };
}

/** Runs the commands that all languages need, with the documents of the service at `origin`. */
export async function prepare(folder: string, origin: string, service: Service): Promise<void> {
  const shared = ['Generated clients', ...(isInstalled(GENERATOR) ? ['OpenAPI Generator'] : [])];
  for (const { code } of shared.flatMap(blocksOf))
    await run(folder, code.replaceAll('http://localhost:3000', origin), service);
}

/**
 * Follows the section of a language: runs its commands as printed, and writes its files. Returns what the last command
 * prints.
 */
export async function follow(language: string, folder: string, service: Service): Promise<string> {
  let printed = '';
  for (const { info, code } of blocksOf(language)) {
    const [kind, name = ''] = info.split(' ');
    if (kind === 'sh') printed = await run(folder, code, service);
    else writeFileSync(join(folder, name), code);
  }
  return printed;
}

/**
 * Replaces the program on the page with the program of the same name in the folder `drivers`. Returns the command that
 * runs the program.
 */
export function useDriver(language: string, folder: string, drivers: string): string {
  const blocks = blocksOf(language);
  const program = blocks.findLast(({ info }) => !info.startsWith('sh'))!.info.split(' ')[1]!;
  copyFileSync(join(drivers, basename(program)), join(folder, program));
  return blocks.at(-1)!.code;
}

function isInstalled(check: string): boolean {
  return spawnSync('sh', ['-c', check], { env: { ...process.env, PATH: path } }).status === 0;
}

async function run(cwd: string, command: string, service: Service): Promise<string> {
  const options = { cwd, env: environmentFor(service) };
  const { stdout } = await promisify(execFile)('sh', ['-ec', command], options).catch((cause) => {
    throw new Error(`${command}\n${cause.stdout}${cause.stderr}`, { cause });
  });
  return stdout;
}
