import { afterAll, describe, expect, test } from '@jest/globals';
import { cpSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stringifyJson } from '../../shared/contract/json.ts';
import { collections } from '../../shared/contract/operations.ts';
import { firstCollection } from '../collections/all.ts';
import { moduleOf } from '../support/invoke.ts';
import { startLocalServiceOf } from '../support/local-service.ts';
import { copyProject } from '../support/project-copy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = copyProject(temporaryFolder());
/** The project folder is also the data folder, because the service must watch sources even in its data folder. */
const data = project.folder;

const service = await startLocalServiceOf(project.folder, '--data', data, '--watch');
await service.printed(/watching/);
afterAll(() => service.stop('SIGKILL'));

async function call(path: string, init?: RequestInit): Promise<{ status: number; body: any }> {
  const response = await service.request(path, init);
  return { status: response.status, body: await response.json() };
}

const RELOADED = /Z reloaded the functions in \d+ ms\n/;

function timesPrinted(line: RegExp): number {
  return service.output().match(new RegExp(line, 'g'))?.length ?? 0;
}

/** Calls `change` and waits until the service prints another line that matches `line`. */
async function until(line: RegExp, change: () => void): Promise<void> {
  const times = timesPrinted(line) + 1;
  change();
  await service.printed(new RegExp(`(?:${line.source}[^]*){${times}}`));
}

/** Saves a source file and waits for a printed line that matches `line`. By default, this line reports a reload. */
async function save(file: string, text: string, line = RELOADED): Promise<void> {
  await until(line, () => project.write(file, text));
}

const { path, newItem } = firstCollection;
const FILE = `functions/${moduleOf(collections[0].operations.get.id)}.ts`;
/** A module that the functions of all operations import. */
const STORAGE = 'shared/storage/collection.ts';
const source = project.read(FILE);

/** Returns the source of `FILE` with a different error message, by which tests identify the running code. */
function sourceWith(errorMessage: string): string {
  return source.replace(/(?<='not_found', )\w+\([^)]*\)/, `'${errorMessage}'`);
}

/** Returns the error message of the running code. */
async function message(): Promise<string> {
  return (await call(`${path}/5`)).body.message;
}

// Each test depends on the previous test, so a single test cannot run alone.
describe('the local service with --watch', () => {
  test('prints at startup which changes require a restart', () => {
    expect(service.output()).not.toMatch(/reloaded|cannot/);
    expect(timesPrinted(/Z watching functions and shared \(restart to change the stack .*\)\n/)).toBe(1);
  });

  test('keeps the data and the API key when it reloads a function', async () => {
    const added = await call(path, { method: 'POST', body: stringifyJson(newItem('a text')) });
    expect(added.status).toBe(201);
    const synthesized = readdirSync(join(data, 'cdk.out'), { recursive: true });
    expect(await message()).toBe(`No ${collections[0].singular} has the id 5.`);

    await save(FILE, sourceWith('saved'));
    expect(await message()).toBe('saved');
    for (const expected of ['replaced', 'replaced again']) {
      await until(RELOADED, () => project.replace(FILE, sourceWith(expected)));
      expect(await message()).toBe(expected);
    }
    expect(await call(`${path}/${added.body.id}`)).toEqual({ ...added, status: 200 });
    expect(readdirSync(join(data, 'cdk.out'), { recursive: true })).toEqual(synthesized);
    // The loop waits, because the service deletes the bundles of the previous code asynchronously.
    while (readdirSync(join(data, 'bundles')).length > 1) await setTimeout(5);
  });

  test('reloads a function when an imported module in a new folder changes', async () => {
    mkdirSync(join(project.folder, 'shared/texts'));
    const importing = `import { text } from '../infra/shared/texts/text.ts';\n${sourceWith('').replace("''", 'text')}`;
    await save(FILE, importing, /The functions cannot be bundled\. /);
    for (const expected of ['from a module', 'from a changed module']) {
      await save('shared/texts/text.ts', `export const text = '${expected}';`);
      expect(await message()).toBe(expected);
    }
  });

  test('reloads a function when its folder is replaced', async () => {
    const [functions, saved] = [join(project.folder, 'functions'), join(project.folder, 'saved')];
    cpSync(functions, saved, { recursive: true });
    project.write(FILE.replace('functions', 'saved'), sourceWith('replaced folder'));
    await until(RELOADED, () => {
      renameSync(functions, join(project.folder, 'functions.before'));
      renameSync(saved, functions);
    });
    expect(await message()).toBe('replaced folder');
  });

  test('runs the previous code while a source file is empty', async () => {
    const line = `Z ${FILE} does not export handler\\. The previous code continues to run\\.\\n`;
    await save(FILE, '', new RegExp(line));
    expect(await message()).toBe('replaced folder');
    await save(FILE, sourceWith('filled'));
    expect(await message()).toBe('filled');
  });

  test('runs the previous code while a shared module is empty or invalid', async () => {
    const storage = project.read(STORAGE);
    for (const text of ['', 'this is not code', storage.slice(0, storage.lastIndexOf('}'))]) {
      await save(STORAGE, text, /Z The functions cannot be bundled\. The previous code continues to run\.\n/);
      expect((await call(path)).status).toBe(200);
    }
    await service.printed(new RegExp(`\\[ERROR\\] Expected ";"[^\\n]*\\n\\n +${STORAGE}:\\d+:\\d+:\\n`));
    await save(STORAGE, `${storage}\nconsole.log('changed');`);
    await save(STORAGE, storage);
  });

  test('returns a 500 while a function throws an error at import', async () => {
    await save(FILE, `${sourceWith('')}\nthrow new Error('test error');`, /\n\w+: Error: test error/);
    expect(await call(`${path}/5`)).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect((await call(path)).status).toBe(200);
    await save(FILE, sourceWith('fixed'));
    expect(await message()).toBe('fixed');
  });

  test('flushes the authorizer cache when it reloads the authorizer', async () => {
    const authorizer = project.read('functions/authorizer.ts');
    expect((await call(path)).status).toBe(200);
    await save(
      'functions/authorizer.ts',
      authorizer.replace("state === 'active' ? 'Allow' : 'Deny'", "'Deny'"),
    );
    expect((await call(path)).status).toBe(401);
  });

  test('exits with code 0 after SIGTERM', async () => {
    expect(await service.stop()).toBe(0);
  });
});
