import { afterAll, describe, expect, test } from '@jest/globals';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stringifyJson } from '../../shared/contract/json.ts';
import { startLocalServiceOf } from '../support/local-service.ts';
import { newPet } from '../support/pets.ts';
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

const FILE = 'functions/get-pet.ts';
/** A module that the functions of all operations import. */
const STORAGE = 'shared/storage/collection.ts';
const source = project.read(FILE);

/** Returns the source of `FILE` with a different error message, by which tests identify the running code. */
function sourceWith(errorMessage: string): string {
  return source.replace(/(?<='not_found', )\w+\([^)]*\)/, `'${errorMessage}'`);
}

/** Returns the error message of the running code. */
async function message(): Promise<string> {
  return (await call('/pets/5')).body.message;
}

// Each test depends on the previous test, so a single test cannot run alone.
describe('the local service with --watch', () => {
  test('keeps the data and the API key when it reloads a function', async () => {
    const added = await call('/pets', { method: 'POST', body: stringifyJson(newPet('Rex')) });
    expect(added.status).toBe(201);
    const synthesized = readdirSync(join(data, 'cdk.out'), { recursive: true });
    expect(await message()).toBe('No pet has the id 5.');

    await save(FILE, sourceWith('saved'));
    expect(await message()).toBe('saved');
    for (const expected of ['replaced', 'replaced again']) {
      await until(RELOADED, () => project.replace(FILE, sourceWith(expected)));
      expect(await message()).toBe(expected);
    }
    expect(await call(`/pets/${added.body.id}`)).toEqual({ ...added, status: 200 });
    expect(readdirSync(join(data, 'cdk.out'), { recursive: true })).toEqual(synthesized);
    // The loop waits, because the service deletes the bundles of the previous code asynchronously.
    while (readdirSync(join(data, 'bundles')).length > 1) await setTimeout(5);
  });

  test('reloads a function when an imported module in a new folder changes', async () => {
    mkdirSync(join(project.folder, 'shared/texts'));
    const importing = `import { text } from '../shared/texts/text.ts';\n${sourceWith('').replace("''", 'text')}`;
    await save(FILE, importing, /The functions cannot be bundled\. /);
    for (const expected of ['from a module', 'from a changed module']) {
      await save('shared/texts/text.ts', `export const text = '${expected}';`);
      expect(await message()).toBe(expected);
    }
  });

  test('runs the previous code while a source is empty or invalid, and says why', async () => {
    const storage = project.read(STORAGE);
    await save(
      FILE,
      '',
      new RegExp(`Z ${FILE} does not export handler\\. The previous code continues to run\\.\\n`),
    );
    expect(await message()).toBe('from a changed module');
    await save(FILE, sourceWith('filled'));
    for (const text of ['', 'this is not code', storage.slice(0, storage.lastIndexOf('}'))]) {
      await save(STORAGE, text, /Z The functions cannot be bundled\. The previous code continues to run\.\n/);
      expect((await call('/pets')).status).toBe(200);
    }
    await service.printed(new RegExp(`\\[ERROR\\] Expected ";"[^\\n]*\\n\\n +${STORAGE}:\\d+:\\d+:\\n`));
    await save(STORAGE, `${storage}\nconsole.log('changed');`);
    await save(STORAGE, storage);
  });

  test('flushes the authorizer cache when it reloads the authorizer', async () => {
    const authorizer = project.read('functions/authorizer.ts');
    expect((await call('/pets')).status).toBe(200);
    await save(
      'functions/authorizer.ts',
      authorizer.replace("state === 'active' ? 'Allow' : 'Deny'", "'Deny'"),
    );
    expect((await call('/pets')).status).toBe(401);
  });
});
