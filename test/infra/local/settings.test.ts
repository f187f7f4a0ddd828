import { describe, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startDatabase } from '../../../infra/local/dynamodb/dynamodb.ts';
import { openStore } from '../../../infra/local/dynamodb/store.ts';
import { type Outcome, runModule } from '../../support/run-command.ts';
import {
  sampleApi,
  sampleGatewayResponses,
  type SampleResource,
  type SampleResources,
  table,
  templateOf,
} from '../../support/sample-resources.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folders = temporaryFolder();

/** An assembly whose stack serves nothing, which is enough for wrong settings. */
function assemblyOf(resources: SampleResources): string {
  const folder = mkdtempSync(join(folders, 'assembly-'));
  writeFileSync(join(folder, 'PetStore-staging.template.json'), JSON.stringify({ Resources: resources }));
  return folder;
}

const assembly = assemblyOf({ ...sampleApi, Pets: table('id'), ...sampleGatewayResponses });

function start(...options: string[]): Promise<Outcome> {
  const parameters = ['--port', '0', '--data', 'memory', '--assembly', assembly, ...options];
  return runModule('infra/local/main.ts', parameters);
}

async function expectError(outcome: Promise<Outcome>, message: unknown): Promise<void> {
  const { code, stdout, stderr } = await outcome;
  expect([code, stdout, stderr.trimEnd()]).toEqual([1, '', message]);
}

/** A data folder with a stored table. */
async function dataWith(pets: SampleResource): Promise<string> {
  const data = mkdtempSync(join(folders, 'data-'));
  mkdirSync(join(data, 'tables'));
  const database = await startDatabase({
    store: await openStore(join(data, 'tables')),
    tables: templateOf({ Pets: pets }).resources('AWS::DynamoDB::GlobalTable'),
    isAllowed: () => true,
  });
  await database.close();
  return data;
}

describe('the local service exits with code 1 and says what to do if', () => {
  const missing = join(assembly, 'PetStore-production.template.json');
  test.each([
    ['the port is not a number', ['--port', 'http'], 'The port must be a number from 0 to 65535, not http.'],
    ['the port is too high', ['--port', '65536'], 'The port must be a number from 0 to 65535, not 65536.'],
    ['the data folder has no name', ['--data', ''], '--data must name a folder, or be memory.'],
    [
      'the assembly has no template of the stage',
      ['--stage', 'production'],
      `There is no ${missing}: synthesize it with npx cdk synth PetStore-production.`,
    ],
  ])('%s', async (_name, options, message) => {
    await expectError(start(...options), message);
  });

  test('the app has no such stage', async () => {
    const folder = mkdtempSync(join(folders, 'assembly-'));
    const stack = { type: 'aws:cloudformation:stack' };
    const artifacts = { Tree: { type: 'cdk:tree' }, 'PetStore-staging': stack, 'PetStore-production': stack };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ artifacts }));
    await expectError(
      start('--assembly', folder, '--stage', 'test'),
      'There is no stack PetStore-test: --stage must be one of staging, production.',
    );
  });

  test.each([['--ports', '3000'], ['--port'], ['staging']])(
    'it does not know the arguments: %s %s',
    async (...options) => {
      await expectError(
        start(...options),
        expect.stringMatching(
          /^(Unknown option '--ports'|Option '--port <value>' argument missing|Call it like this, .* npm start -- \[--stage STAGE\])/,
        ),
      );
    },
  );

  test('the variable PORT is not a number', async () => {
    const parameters = ['--assembly', assembly, '--data', 'memory'];
    await expectError(
      runModule('infra/local/main.ts', parameters, { PORT: 'x' }),
      'The port must be a number from 0 to 65535, not x.',
    );
  });

  test('the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expectError(
      start('--port', port.toString()),
      `Port ${port} cannot be used (listen EADDRINUSE: address already in use 127.0.0.1:${port}): choose another port with --port.`,
    );
    other.close();
  });

  test('the template has something that is not modelled', async () => {
    const other = assemblyOf({ Queue: { Type: 'AWS::SQS::Queue', Properties: {} } });
    await expectError(
      start('--assembly', other),
      expect.stringMatching(/infra\/local\/template\/resources\.ts[^]+ {2}Queue: the type/),
    );
  });

  test('the data folder is a file, within a file, where no folder can be, or a link to nothing', async () => {
    const [file, link] = [join(folders, 'file'), join(folders, 'link')];
    writeFileSync(file, '');
    symlinkSync(join(folders, 'nowhere', 'else'), link, 'junction');
    for (const folder of [file, join(file, 'data'), '/proc/petstore', link]) {
      const message = /^The folder \S+ cannot be used \(E\w+: .+\): choose another with --data\.$/;
      await expectError(start('--data', folder), expect.stringMatching(message));
    }
  });

  test('the data is in use', async () => {
    const tables = join(mkdtempSync(join(folders, 'data-')), 'tables');
    const store = await openStore(tables);
    await expectError(
      start('--data', join(tables, '..')),
      `The data in ${tables} is in use by another local service: stop it, or choose another folder with --data.`,
    );
    await store.close();
  });

  test.each([
    ['another key', table('name')],
    ['another index', table('id', 'kind')],
  ])('the stored table has %s', async (_name, pets) => {
    await expectError(
      start('--data', await dataWith(pets)),
      'The stored table Pets is incomplete, or its keys or indexes differ from the template: choose another folder with --data, or delete the data.',
    );
  });
});

test('the local service shows its options', async () => {
  const { code, stdout } = await start('--help');
  expect(code).toBe(0);
  for (const option of ['--stage', '--port', '--data', '--assembly']) expect(stdout).toContain(option);
});
