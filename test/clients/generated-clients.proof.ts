import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { INT64, MAX_NAME_CHARACTERS } from '../../shared/contract/limits.ts';
import { parseJson, stringifyJson } from '../../shared/contract/json.ts';
import { type Behavior, useServiceBehindProxy } from '../support/client-proxy.ts';
import { codeBlocksIn } from '../support/markdown-code.ts';
import { integerField, type Item, textField, validInput } from '../support/sample.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { hasTools, toolModules } from '../support/tools.ts';

// Generates clients with the commands in docs/clients.md and runs a program with each client on the local service.

const check = `tsc --noEmit --strict --module esnext --moduleResolution bundler --target es2024 --types node --typeRoots
  ${resolve('node_modules/@types')} --allowImportingTsExtensions driver.ts`;
const bundle = 'esbuild driver.ts --bundle --platform=node --format=esm --outfile=driver.mjs';

type Call = { apiKey: string } & ({ key: string; item: object } | { id: bigint } | { cursor?: string });
interface Result {
  data?: Item | Item[] | null;
  error?: { code: string; message: string } | null;
  link?: string | null;
}

/**
 * The generators that npm installs, by the headings in docs/clients.md, and the files in test/clients/generated that use
 * the generated clients. Generators for other languages were tested by hand.
 */
const generators = [
  { name: '@hey-api/openapi-ts', program: 'hey-api.ts' },
  { name: 'openapi-typescript', program: 'openapi-fetch.ts' },
];
type Generator = (typeof generators)[number];

const document = readFileSync('docs/clients.md', 'utf8');
const path = [resolve('node_modules/.bin'), join(toolModules, '.bin'), process.env['PATH']];
const environment = { ...process.env, PATH: path.join(':') };

const parent = temporaryFolder();
/** Returns the integer that JavaScript writes after it reads `int64` as a double. */
const rounded = (int64: bigint) => BigInt(String(Number(int64)));
const { service, proxy } = await useServiceBehindProxy();

// Responses that a later release or a proxy in front of the service could send, by the id in the path.
const unknownCode = { code: 'locked', message: 'The item is locked.' };
const undocumentedStatus = { code: 'teapot', message: 'I am a teapot.' };
const behaviors: Record<string, Behavior> = {
  1: { status: 400, body: JSON.stringify({ ...unknownCode, status: 400, hint: 'Wait.' }) },
  2: { status: 418, body: JSON.stringify({ ...undocumentedStatus, status: 418 }) },
  3: { status: 200, body: stringifyJson({ id: 3, ...validInput, color: {} }) },
};

proxy.decide(({ target }) => behaviors[basename(target)] ?? 'pass');
const largest = stringifyJson({ ...validInput, [integerField]: INT64.maximum });
await service.call('', { method: 'POST', body: largest });

const describeWithTools = hasTools() ? describe : describe.skip;
describeWithTools.each(generators)('the $name client (needs npm ci --prefix test/tools)', (generator) => {
  let program: ReturnType<typeof start>;
  let apiKey: string;

  beforeAll(async () => {
    ({ apiKey } = service);
    const folder = await build(generator);
    program = start(folder, { BASE_URL: proxy.baseUrl });
  });
  afterAll(() => {
    program?.end();
  });

  test.each([
    ['a word after white space', ' a'],
    ['a control character', '\u001f'],
    ['emoji of the maximum length', '😀'.repeat(MAX_NAME_CHARACTERS)],
  ])('reads back a created item whose text is %s', async (_title, text) => {
    const item = { ...validInput, [textField]: text, [integerField]: -7n };
    const key = randomUUID();
    const { data } = await program.send({ apiKey, key, item });
    expect(data).toEqual({ id: expect.anything(), ...item });
    expect(proxy.requests.at(-1)!.headers['idempotency-key']).toBe(key);
    expect((await program.send({ apiKey, id: (data as Item).id })).data).toEqual(data);
  });

  test('gets a 400 for a large int64, because the client rounds it', async () => {
    const item = { ...validInput, [integerField]: INT64.maximum };
    const { error } = await program.send({ apiKey, key: randomUUID(), item });
    expect(error?.code).toBe('invalid_request');
  });

  test('reads every page but rounds large int64 values', async () => {
    const items: Item[] = [];
    let cursor: string | undefined;
    do {
      const { data, link } = await program.send({ apiKey, ...(cursor !== undefined && { cursor }) });
      items.push(...(data as Item[]));
      cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(link ?? '')?.[1];
    } while (cursor !== undefined);
    const stored: Item[] = await service.call('?limit=100');
    expect(items).toEqual(stored.map((item) => ({ ...item, [integerField]: rounded(item[integerField]) })));
    expect(items.at(-1)).toMatchObject({ [integerField]: rounded(INT64.maximum) });
  });

  test('returns code and message of documented and undocumented error responses', async () => {
    const cursor = { code: 'invalid_request', message: expect.stringMatching(/^cursor /) };
    expect((await program.send({ apiKey, cursor: 'x' })).error).toMatchObject(cursor);
    const key = { code: 'unauthorized', message: expect.stringMatching(/key/) };
    expect((await program.send({ apiKey: 'wrong' })).error).toMatchObject(key);
    expect((await program.send({ apiKey, id: 1n })).error).toMatchObject(unknownCode);
    expect((await program.send({ apiKey, id: 2n })).error).toMatchObject(undocumentedStatus);
  });

  test('reads an item that has an unknown field', async () => {
    const { data } = await program.send({ apiKey, id: 3n });
    expect(data).toMatchObject({ id: 3n, ...validInput });
  });
});

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
async function build(generator: Generator): Promise<string> {
  const folder = mkdtempSync(join(parent, 'generated-'));
  for (const file of ['openapi.json', 'openapi-3.0.json']) symlinkSync(resolve(file), join(folder, file));
  symlinkSync(toolModules, join(folder, 'node_modules'), 'junction');
  await runIn(folder, commandOf(generator));
  copyFileSync(`test/clients/generated/${generator.program}`, join(folder, 'driver.ts'));
  await runIn(folder, `${check.replace('\n', '')} && ${bundle}`);
  return folder;
}

/** Starts a program that reads one JSON call per line and prints one JSON result per line. */
function start(folder: string, additions: NodeJS.ProcessEnv) {
  const program = spawn(process.execPath, ['driver.mjs'], {
    cwd: folder,
    env: { ...environment, ...additions },
  });
  let errors = '';
  program.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  program.stdin.on('error', () => {}); // If the program has exited, `send` throws an error.
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return {
    async send(input: Call): Promise<Result> {
      program.stdin.write(`${stringifyJson(input)}\n`);
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
