import { describe, expect, jest, test } from '@jest/globals';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startDatabase } from '../../../infra/local/dynamodb/dynamodb.ts';
import { type Outcome, runModule } from '../../support/run-command.ts';
import {
  sampleApi,
  sampleGatewayResponses,
  type SampleResources,
  table,
  templateOf,
} from '../../support/sample-resources.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

jest.setTimeout(30_000); // for processes that start on a busy machine

const folders = temporaryFolder();

/** An assembly whose stack serves nothing, which is all that wrong settings need. */
function assemblyOf(resources: SampleResources): string {
  const folder = mkdtempSync(join(folders, 'assembly-'));
  writeFileSync(join(folder, 'PetStore-staging.template.json'), JSON.stringify({ Resources: resources }));
  return folder;
}

const assembly = assemblyOf({
  ...sampleApi,
  Pets: table('id'),
  ...sampleGatewayResponses,
});

function start(...options: string[]): Promise<Outcome> {
  return runModule('infra/local/main.ts', [
    '--port',
    '0',
    '--data',
    'memory',
    '--assembly',
    assembly,
    ...options,
  ]);
}

/** A data folder with a table as it is stored by a database that still runs on it. */
async function dataWith(...tables: [string, string?]) {
  const data = mkdtempSync(join(folders, 'data-'));
  mkdirSync(join(data, 'tables'));
  const database = await startDatabase({
    folder: join(data, 'tables'),
    tables: templateOf({ Pets: table(...tables) }).resources('AWS::DynamoDB::GlobalTable'),
    isAllowed: () => true,
  });
  return { data, database };
}

async function expectUnwritable(): Promise<void> {
  const data = mkdtempSync(join(folders, 'data-'));
  chmodSync(data, 0o500);
  for (const folder of [data, join(data, 'within')]) {
    expect(await start('--data', folder)).toEqual({
      code: 1,
      stdout: '',
      stderr: `You may not write to the folder ${folder}: choose another with --data.\n`,
    });
  }
}

async function expectImpossible(): Promise<void> {
  expect(await start('--data', '/proc/none')).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^The folder \/proc\/none cannot be used \(ENOENT: [^\n]+\): choose another with --data\.\n$/,
    ),
  });
}

describe('the local service ends with code 1 and says what to do when', () => {
  test.each([
    ['the port is no number', ['--port', 'http'], 'The port must be a number from 0 to 65535, not http.'],
    ['the port is too high', ['--port', '65536'], 'The port must be a number from 0 to 65535, not 65536.'],
    ['the port is empty', ['--port', ''], 'The port must be a number from 0 to 65535, not .'],
    ['the data folder has no name', ['--data', ''], '--data must name a folder, or be memory.'],
    ['the stage is unknown', ['--stage', 'test'], '--stage must be staging or production, not test.'],
    [
      'the assembly has no such stack',
      ['--stage', 'production'],
      `There is no ${join(assembly, 'PetStore-production.template.json')}: synthesize it with npx cdk synth PetStore-production.`,
    ],
    [
      'what is to be watched is synthesized already',
      ['--watch'],
      'The bundles of --assembly are run as they are, so that there is nothing to --watch: leave out one of the two.',
    ],
  ])('%s', async (_name, options, message) => {
    expect(await start(...options)).toEqual({ code: 1, stdout: '', stderr: `${message}\n` });
  });

  test.each([['--ports', '3000'], ['--port'], ['staging']])(
    'the command line is none of its own: %s %s',
    async (...options) => {
      const { code, stdout, stderr } = await start(...options);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(options[0]);
      expect(stderr).toContain('npm start -- [--stage staging|production]');
      expect(stderr).not.toContain('    at ');
    },
  );

  test('the variable PORT is no number', async () => {
    const parameters = ['--assembly', assembly, '--data', 'memory'];
    expect(await runModule('infra/local/main.ts', parameters, { PORT: 'x' })).toMatchObject({
      code: 1,
      stderr: 'The port must be a number from 0 to 65535, not x.\n',
    });
  });

  test('the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const outcome = await start('--port', port);
    other.close();
    expect(outcome).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is taken: end what uses it, or choose another port with --port.\n`,
    });
  });

  // Who runs the tests may use every port, where it is root.
  test.each([
    ['EACCES', 'Port 443 is kept for the system: choose one above 1023 with --port.'],
    ['EADDRNOTAVAIL', 'Port 443 cannot be used (listen EADDRNOTAVAIL): choose another port with --port.'],
  ])('the port is refused by %s', async (code, message) => {
    const refusing = `
      import { Server } from 'node:net';
      const { listen } = Server.prototype;
      Server.prototype.listen = function (port, ...more) {
        if (port !== 443) return listen.call(this, port, ...more);
        const error = Object.assign(new Error('listen ${code}'), { code: '${code}' });
        process.nextTick(() => this.emit('error', error));
        return this;
      };`;
    const outcome = await runModule(
      'infra/local/main.ts',
      ['--port', '443', '--data', 'memory', '--assembly', assembly],
      { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refusing)}` },
    );
    expect(outcome).toEqual({ code: 1, stdout: '', stderr: `${message}\n` });
  });

  test('there is nowhere to put what lies on disk while the data is in memory', async () => {
    const none = join(folders, 'none');
    const parameters = ['--port', '0', '--data', 'memory', '--assembly', assembly];
    const { code, stderr } = await runModule('infra/local/main.ts', parameters, { TMPDIR: none });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^No folder can be made in \S+none \(ENOENT: .*\): set TMPDIR to one that you may write to\.\n$/,
      ),
    ]);
  });

  test('the template uses what is not modelled', async () => {
    const other = assemblyOf({ ...sampleApi, Queue: { Type: 'AWS::SQS::Queue', Properties: {} } });
    expect(await start('--assembly', other)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The template uses what the local service does not model:\n  Queue: the type AWS::SQS::Queue\n',
    });
  });

  describe('the data folder', () => {
    test.each([
      ['is a file', ''],
      ['is to be within a file', 'data'],
      ['is to be far within a file', 'data/of/mine'],
    ])('%s', async (_name, within) => {
      const file = join(folders, 'file');
      writeFileSync(file, '');
      const data = join(file, within).replace(/\/$/, '');
      expect(await start('--data', data)).toEqual({
        code: 1,
        stdout: '',
        stderr: `The folder ${data} cannot be used, because ${file} is a file: choose another with --data.\n`,
      });
    });

    test.each([
      ['is a link that leads nowhere', ''],
      ['is to be within a link that leads nowhere', 'data'],
    ])('%s', async (_name, within) => {
      const link = join(mkdtempSync(join(folders, 'links-')), 'link');
      symlinkSync(join(folders, 'nowhere'), link, 'junction');
      const data = join(link, within).replace(/\/$/, '');
      expect(await start('--data', data)).toEqual({
        code: 1,
        stdout: '',
        stderr: `The folder ${data} cannot be used, because ${link} is a link that leads nowhere: choose another with --data.\n`,
      });
    });

    (existsSync('/proc/self') ? test : test.skip)('is where no folder can be made', expectImpossible);

    test('has a file in the place of its tables, or a folder in that of its key', async () => {
      const data = mkdtempSync(join(folders, 'data-'));
      writeFileSync(join(data, 'tables'), '');
      expect(await start('--data', data)).toEqual({
        code: 1,
        stdout: '',
        stderr: `The folder ${data} cannot be used, because ${join(data, 'tables')} is a file: choose another with --data.\n`,
      });
      rmSync(join(data, 'tables'));
      mkdirSync(join(data, 'api-key'));
      expect(await start('--data', data)).toEqual({
        code: 1,
        stdout: '',
        stderr: `${join(data, 'api-key')} should be the file of the API key and is a folder: remove it, or choose another folder with --data.\n`,
      });
    });

    const isRoot = process.getuid?.() === 0;
    const reason = isRoot ? ' (not tried: root may write everywhere)' : '';
    (isRoot ? test.skip : test)(`may not be written to${reason}`, expectUnwritable);

    test.each([
      ['EACCES', 'You may not write to PARENT, where the folder FOLDER is to be made'],
      ['EPERM', 'You may not write to PARENT, where the folder FOLDER is to be made'],
      ['EROFS', 'The folder FOLDER is on a read-only file system'],
      ['ENOSPC', 'The folder FOLDER cannot be used (mkdir ENOSPC)'],
    ])('is refused by %s', async (code, message) => {
      const first = join(folders, 'refused');
      // As the real one does, it names the first of the folders that cannot be made.
      const refusing = `
        import { syncBuiltinESMExports } from 'node:module';
        import { promises } from 'node:fs';
        const { mkdir } = promises;
        promises.mkdir = async (path, options) => {
          const first = ${JSON.stringify(first)};
          if (path !== first && !(options?.recursive && path.startsWith(first))) return mkdir(path, options);
          throw Object.assign(new Error('mkdir ${code}'), { code: '${code}', path: first });
        };
        syncBuiltinESMExports();`;
      const data = join(first, 'within');
      const outcome = await runModule(
        'infra/local/main.ts',
        ['--port', '0', '--data', data, '--assembly', assembly],
        { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(refusing)}` },
      );
      const stderr = `${message.replace('FOLDER', data).replace('PARENT', folders)}: choose another with --data.\n`;
      expect(outcome).toEqual({ code: 1, stdout: '', stderr });
    });

    test('is in use', async () => {
      const { data, database } = await dataWith('id');
      const outcome = await start('--data', data);
      await database.close();
      expect(outcome).toEqual({
        code: 1,
        stdout: '',
        stderr: `The data in ${join(data, 'tables')} is in use by another local service: end that one, or choose another folder with --data.\n`,
      });
    });

    test.each([
      ['another key', ['name']],
      ['another index', ['id', 'kind']],
    ] as [string, [string, string?]][])('holds a table with %s', async (_name, keys) => {
      const { data, database } = await dataWith(...keys);
      await database.close();
      expect(await start('--data', data)).toEqual({
        code: 1,
        stdout: '',
        stderr: `The table Pets stored in ${join(data, 'tables')} has other keys or indexes than the template: choose another folder with --data, or remove this one.\n`,
      });
    });
  });
});

test('the local service tells its options', async () => {
  const { code, stdout } = await start('--help');
  expect(code).toBe(0);
  for (const option of ['--stage', '--port', '--data', '--assembly']) expect(stdout).toContain(option);
});
