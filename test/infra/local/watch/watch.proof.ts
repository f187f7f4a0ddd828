import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cpSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { reportFigure } from '../../../support/proofs-reporter.ts';
import { type LocalService, startLocalServiceOf } from '../../../support/local-service.ts';
import { copyProject } from './project-copy.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folders = temporaryFolder();
const project = copyProject(folders);
/** Of the data too: the sources beside it are watched nonetheless. */
const data = project.folder;
/** One connection, which is kept. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

let service: LocalService;

beforeAll(async () => {
  service = await startLocalServiceOf(project.folder, '--data', data, '--watch');
  await service.printed(/watching/);
});
afterAll(() => {
  agent.destroy();
  service.process.kill();
});

interface Reply {
  status: number;
  body: any;
  /** The port of this end of the connection. */
  clientPort: number;
}

async function call(path: string, body?: object): Promise<Reply> {
  const sent = request(`${service.baseUrl}${path}`, {
    method: body ? 'POST' : 'GET',
    agent,
    headers: { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' },
  });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const clientPort = response.socket.localPort!;
  return { status: response.statusCode!, body: JSON.parse(await text(response)), clientPort };
}

function timesPrinted(line: RegExp): number {
  return service.output().match(new RegExp(line, 'g'))?.length ?? 0;
}

/** Does something and waits until the line is printed once more than before. */
async function until(line: RegExp, change: () => void): Promise<void> {
  const times = timesPrinted(line) + 1;
  change();
  await service.printed(new RegExp(`(?:${line.source}[^]*){${times}}`));
}

const GET_PET = 'functions/get-pet.ts';
const getPet = project.read(GET_PET);

/** `functions/get-pet.ts` with another message, by which its code is known. */
function getPetSaying(saying: string): string {
  return getPet.replace(/`There is no pet[^`]*`/, `'${saying}'`);
}

/** The message for a pet that does not exist. */
async function message(): Promise<string> {
  return (await call('/pets/5')).body.message;
}

// Each test changes what the previous one left.
describe('the local service that watches', () => {
  test('starts with the synthesized bundles, and tells when a restart is needed', () => {
    expect(service.output()).not.toMatch(/swapped|cannot/);
    expect(timesPrinted(/Z watching the functions: changes of the stack, .* need a restart\n/)).toBe(1);
  });

  test('swaps the function that is saved, and keeps data, key and connection', async () => {
    const added = await call('/pets', { name: 'Rex', categoryId: 1 });
    expect(added.status).toBe(201);
    const synthesized = readdirSync(join(data, 'cdk.out'), { recursive: true });
    expect(await message()).toBe('No pet has the id 5.');

    await until(/Z swapped GetPet in \d+ ms\n/, () => project.write(GET_PET, getPetSaying('saved')));
    expect(await message()).toBe('saved');
    for (const saying of ['replaced', 'replaced again']) {
      await until(/swapped GetPet in/, () => project.replace(GET_PET, getPetSaying(saying)));
      expect(await message()).toBe(saying);
    }
    expect(await call(`/pets/${added.body.id}`)).toEqual({
      status: 200,
      body: added.body,
      clientPort: added.clientPort,
    });
    expect(readdirSync(join(data, 'cdk.out'), { recursive: true })).toEqual(synthesized);
    while (readdirSync(join(data, 'bundles')).length > 1) await setTimeout(5); // of the previous code
  });

  test('notices a module in a new folder', async () => {
    mkdirSync(join(project.folder, 'shared/texts'));
    const importing = `import { text } from '../shared/texts/text.ts';\n${getPetSaying('').replace("''", 'text')}`;
    await until(/cannot build GetPet:/, () => project.write(GET_PET, importing));
    for (const saying of ['from afar', 'changed afar']) {
      await until(/swapped GetPet in/, () =>
        project.write('shared/texts/text.ts', `export const text = '${saying}';`),
      );
      expect(await message()).toBe(saying);
    }
  });

  test('notices a folder that is replaced', async () => {
    const [functions, saved] = [join(project.folder, 'functions'), join(project.folder, 'saved')];
    cpSync(functions, saved, { recursive: true });
    project.write('saved/get-pet.ts', getPetSaying('replaced as a whole'));
    await until(/swapped GetPet in/, () => {
      renameSync(functions, join(project.folder, 'functions.before'));
      renameSync(saved, functions);
    });
    expect(await message()).toBe('replaced as a whole');
  });

  test('prints build errors once, continues with the previous code, and swaps what fixes them', async () => {
    await until(/Z cannot build GetPet: the previous code continues to run\n/, () =>
      project.write(GET_PET, `${getPetSaying('broken')}\nthis is no code`),
    );
    await service.printed(/\[ERROR\] Expected ";"[^\n]*\n\n +functions\/get-pet\.ts:\d+:\d+:\n/);
    expect(await message()).toBe('replaced as a whole');
    // The function that failed is built again, with the same errors.
    const listPets = project.read('functions/list-pets.ts');
    await until(/swapped ListPets in/, () =>
      project.write('functions/list-pets.ts', `${listPets}\nconsole.log('changed');`),
    );
    expect(timesPrinted(/Expected ";"/)).toBe(1);
    await until(/swapped GetPet in/, () => project.write(GET_PET, getPetSaying('fixed')));
    expect(await message()).toBe('fixed');
  });

  test('continues with the previous code while a file is empty', async () => {
    await until(
      /cannot build GetPet: the previous code continues to run\nfunctions\/get-pet\.ts does not export handler\.\n/,
      () => project.write(GET_PET, ''),
    );
    expect(await message()).toBe('fixed');
    await until(/swapped GetPet in/, () => project.write(GET_PET, getPetSaying('filled')));
    expect(await message()).toBe('filled');
  });

  test('prints the errors of a module of several functions once', async () => {
    const errors = project.read('shared/contract/errors.ts');
    await until(/cannot build \w+(?:, \w+){2,}: /, () =>
      project.write('shared/contract/errors.ts', `${errors}\nconst = 1;`),
    );
    await service.printed(/shared\/contract\/errors\.ts:\d+:/);
    expect(timesPrinted(/shared\/contract\/errors\.ts:\d+:/)).toBe(1);
    await until(/swapped \w+(?:, \w+){2,} in/, () => project.write('shared/contract/errors.ts', errors));
  });

  test('prints why code cannot be loaded, responds 500, and swaps what fixes it', async () => {
    await until(/\nGetPet\w+: Error: no luck/, () =>
      project.write(GET_PET, `${getPetSaying('')}\nthrow new Error('no luck');`),
    );
    expect(await call('/pets/5')).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect((await call('/pets')).status).toBe(200);
    await until(/swapped GetPet in/, () => project.write(GET_PET, getPetSaying('fixed again')));
    expect(await message()).toBe('fixed again');
  });

  test('asks the new authorizer at once, without cached decisions', async () => {
    const authorizer = project.read('functions/authorizer.ts');
    expect((await call('/pets')).status).toBe(200);
    await until(/swapped Authorizer in/, () =>
      project.write('functions/authorizer.ts', authorizer.replace("record ? 'Allow' : 'Deny'", "'Deny'")),
    );
    expect((await call('/pets')).status).toBe(401);
  });

  test('ends gracefully', async () => {
    expect(await service.stop()).toBe(0);
    const swaps = Array.from(service.output().matchAll(/swapped .* in (\d+) ms/g), ([, time]) =>
      Number(time),
    );
    reportFigure(import.meta.filename, `${swaps.length} swaps in at most ${Math.max(...swaps)} ms`);
  });
});
