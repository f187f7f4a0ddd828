import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type LocalService, startLocalServiceOf } from '../../../support/local-service.ts';
import { copyProject } from '../../../support/project-copy.ts';
import { runModule, type Outcome } from '../../../support/run-command.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

jest.setTimeout(90_000); // for a synthesis on a busy machine

const folders = temporaryFolder();
const project = copyProject(folders);
/** Of the data too: the sources beside it are watched nonetheless. */
const data = project.folder;
/** One connection, which is kept. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

let service: LocalService;
let startedMeanwhile: Outcome;

beforeAll(async () => {
  const starting = startLocalServiceOf(project.folder, '--data', data, '--watch');
  starting.catch(() => {});
  while (!existsSync(join(data, 'tables', 'LOCK'))) await setTimeout(5);
  startedMeanwhile = await runModule('infra/local/main.ts', ['--port', '0', '--data', data]);
  service = await starting;
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

function call(path: string, body?: object, connections?: Agent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(`${service.baseAddress}${path}`, {
      method: body ? 'POST' : 'GET',
      agent: connections,
      headers: { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' },
    });
    sent.on('error', reject);
    sent.on('response', async (response) => {
      const clientPort = response.socket.localPort!;
      const text = (await response.toArray()).join('');
      resolve({ status: response.statusCode!, body: JSON.parse(text), clientPort });
    });
    sent.end(body && JSON.stringify(body));
  });
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
function getPetSaying(text: string): string {
  return getPet.replace(/`There is no pet[^`]*`/, `'${text}'`);
}

/** The message for a pet that does not exist. */
async function message(): Promise<string> {
  return (await call('/pets/5')).body.message;
}

// Each changes what the one before left.
describe('the local service that watches', () => {
  test('begins with the bundles of the synthesis, byte for byte: nothing is to be swapped', () => {
    expect(service.output()).not.toMatch(/swapped|cannot/);
  });

  test('keeps its data folder to itself while it synthesizes', () => {
    expect(startedMeanwhile).toEqual({
      code: 1,
      stdout: '',
      stderr: `The data in ${join(data, 'tables')} is in use by another local service: end that one, or choose another folder with --data.\n`,
    });
  });

  test('swaps the function that is saved, and keeps data, key and connection', async () => {
    const added = await call('/pets', { name: 'Rex', categoryId: 1 }, agent);
    expect(added.status).toBe(201);
    const synthesized = readdirSync(join(data, 'cdk.out'), { recursive: true });
    expect(await message()).toBe('There is no pet with the id 5.');

    await until(/Z swapped GetPet in \d+ ms\n/, () => project.write(GET_PET, getPetSaying('saved')));
    expect(await message()).toBe('saved');
    expect(await call(`/pets/${added.body.id}`, undefined, agent)).toEqual({
      status: 200,
      body: added.body,
      clientPort: added.clientPort,
    });
    expect(readdirSync(join(data, 'cdk.out'), { recursive: true })).toEqual(synthesized);
  });

  test('notices each file that is put in the place of another', async () => {
    for (const text of ['put there', 'put there again']) {
      await until(/swapped GetPet in/, () => project.replace(GET_PET, getPetSaying(text)));
      expect(await message()).toBe(text);
    }
  });

  test('notices a module in a new folder', async () => {
    mkdirSync(join(project.folder, 'shared/texts'));
    const importing = `import { text } from '../shared/texts/text.ts';\n${getPetSaying('').replace("''", 'text')}`;
    await until(/cannot build GetPet:/, () => project.write(GET_PET, importing));
    await until(/swapped GetPet in/, () =>
      project.write('shared/texts/text.ts', `export const text = 'from afar';`),
    );
    expect(await message()).toBe('from afar');
    await until(/swapped GetPet in/, () =>
      project.write('shared/texts/text.ts', `export const text = 'changed afar';`),
    );
    expect(await message()).toBe('changed afar');
  });

  test('notices a folder that is put in the place of another', async () => {
    const [functions, saved] = [join(project.folder, 'functions'), join(project.folder, 'saved')];
    cpSync(functions, saved, { recursive: true });
    project.write('saved/get-pet.ts', getPetSaying('put there as a whole'));
    await until(/swapped GetPet in/, () => {
      renameSync(functions, join(project.folder, 'functions.before'));
      renameSync(saved, functions);
    });
    expect(await message()).toBe('put there as a whole');
  });

  test('lets the code before answer what it has begun, and ends it then', async () => {
    const gate = join(folders, 'gate');
    const begun = join(folders, 'begun');
    const waiting = `import { existsSync, writeFileSync } from 'node:fs';\n${getPetSaying('before')}`.replace(
      'if (!pet)',
      `if (String(path.petId) === '7') {
        writeFileSync(${JSON.stringify(begun)}, '');
        while (!existsSync(${JSON.stringify(gate)})) await new Promise((resolve) => setTimeout(resolve, 5));
      }
      if (!pet)`,
    );
    await until(/swapped GetPet in/, () => project.write(GET_PET, waiting));
    const inFlight = call('/pets/7');
    while (!existsSync(begun)) await setTimeout(5);

    await until(/swapped GetPet in/, () => project.write(GET_PET, getPetSaying('after')));
    expect(await message()).toBe('after');
    const bundles = join(data, 'bundles');
    expect(readdirSync(bundles)).toHaveLength(2);
    writeFileSync(gate, '');
    expect((await inFlight).body.message).toBe('before');
    while (readdirSync(bundles).length > 1) await setTimeout(5);
  });

  test('says what cannot be built, goes on with the code before, and swaps what mends it', async () => {
    await until(/Z cannot build GetPet: what was built before goes on serving\n/, () =>
      project.write(GET_PET, `${getPetSaying('broken')}\nthis is no code`),
    );
    await service.printed(/\[ERROR\] Expected ";"[^\n]*\n\n +functions\/get-pet\.ts:\d+:\d+:\n/);
    expect(await message()).toBe('after');
    await until(/swapped GetPet in/, () => project.write(GET_PET, getPetSaying('mended')));
    expect(await message()).toBe('mended');
    await until(/cannot build GetPet/, () => project.write(GET_PET, '('));
    await until(/GetPet can be built again, unchanged/, () => project.write(GET_PET, getPetSaying('mended')));
    expect(await message()).toBe('mended');
  });

  test('says once what is wrong with a module of several functions', async () => {
    const errors = project.read('shared/contract/errors.ts');
    await until(/cannot build ListPets, CreatePet, GetPet: /, () =>
      project.write('shared/contract/errors.ts', `${errors}\nconst = 1;`),
    );
    await service.printed(/shared\/contract\/errors\.ts:\d+:/);
    expect(timesPrinted(/shared\/contract\/errors\.ts:\d+:/)).toBe(1);
    await until(/ListPets, CreatePet, GetPet can be built again/, () =>
      project.write('shared/contract/errors.ts', errors),
    );
  });

  test('answers 500 where the code cannot be loaded, shows the error, and swaps what mends it', async () => {
    await until(/GetPet cannot be loaded: Error: no luck/, () =>
      project.write(GET_PET, `${getPetSaying('')}\nthrow new Error('no luck');`),
    );
    expect(await call('/pets/5')).toMatchObject({
      status: 500,
      body: { code: 'internal_error', message: expect.any(String), status: 500 },
    });
    expect((await call('/pets')).status).toBe(200);
    await until(/swapped GetPet in/, () => project.write(GET_PET, getPetSaying('mended again')));
    expect(await message()).toBe('mended again');
    expect(timesPrinted(/cannot be loaded/)).toBe(1);
  });

  test('asks the new authorizer at once, whatever the one before decided', async () => {
    const authorizer = project.read('functions/authorizer.ts');
    expect((await call('/pets')).status).toBe(200);
    await until(/swapped Authorizer in/, () =>
      project.write('functions/authorizer.ts', authorizer.replace("record ? 'Allow' : 'Deny'", "'Deny'")),
    );
    expect((await call('/pets')).status).toBe(401);
    await until(/swapped Authorizer in/, () => project.write('functions/authorizer.ts', authorizer));
    expect((await call('/pets')).status).toBe(200);
  });

  test('ends in order', async () => {
    expect(await service.stop()).toBe(0);
  });
});
