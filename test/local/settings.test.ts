import { afterEach, describe, expect, jest, test } from '@jest/globals';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { keyPrefix } from '../../shared/api-keys.ts';
import { stackName } from '../../shared/names.ts';
import { UsageError } from '../../infra/command.ts';
import { openStore } from '../../infra/local/emulator/dynamodb/store.ts';
import { type ServiceOptions, startService } from '../../infra/local/start-service.ts';
import { firstCollection } from '../collections/all.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { errorOutput, runModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Simulates a machine without the given loopback addresses until the test ends. */
function simulateWithout(...missing: string[]): void {
  const listen = Reflect.get(Server.prototype, 'listen') as (...parameters: unknown[]) => Server;
  const spy = jest.spyOn(Server.prototype, 'listen');
  spy.mockImplementation(function (this: Server, port?: unknown, host?: unknown) {
    if (!missing.includes(host as string)) return Reflect.apply(listen, this, [port, host]);
    const error = Object.assign(new Error('listen EADDRNOTAVAIL'), { code: 'EADDRNOTAVAIL' });
    process.nextTick(() => this.emit('error', error));
    return this;
  });
}

describe('npm start', () => {
  test.each([
    [['--port', '65536'], {}, /^The port 65536 \(.*\) must be an integer from 0 to 65535\.$/],
    [[], { PORT: 'http' }, /^The port http \(.*\) must be an integer from 0 to 65535\.$/],
    [['--stage', 'prod'], {}, /contains no stage prod\. Choose one of its stages: staging, /],
    [['--data'], {}, /^Option '--data <value>' argument missing\. To see all options, append --help\.$/],
    [['--inspect', 'chrome'], { PORT: '' }, /^--inspect must be an integer from 1024 to 65000\.$/],
    [['--assembly', '.', '--watch'], {}, /^--assembly cannot be combined with --watch, /],
    [['--inspect', 'chrome'], {}, /^--inspect must be an integer from 1024 to 65000\.$/],
    [['--assembly', '.', '--synth'], {}, /^--assembly cannot be combined with --watch, /],
    [['--data', ' '], {}, /^--data must name a folder other than the root of a disk\.$/],
    [['--data', '/'], {}, /^--data must name a folder other than the root of a disk\.$/],
    [['--data', 'package.json'], {}, /^\S+package\.json is a file\. Choose a folder with --data\.$/],
    [
      ['--data', 'memory'],
      { TMPDIR: '/nope', TEMP: '/nope', PORT: '0' },
      /^The folder \S+ is unusable \(.+\)\. Set TMPDIR \(on Windows TEMP\) to a folder to which you can write\.$/,
    ],
    [['staging'], {}, /^Invalid arguments\. Usage, including the two dashes: npm start -- .* \[--watch\] /],
  ])('rejects the options %j with the environment variables %j', async (parameters, environment, message) => {
    expect(errorOutput(await runModule('infra/local/main.ts', parameters, environment))).toMatch(message);
  });
});

describe('the local service', () => {
  const folders = temporaryFolder();
  const help = 'To see all options, run npm start -- --help.';
  const assembly = mkdtempSync(join(folders, 'assembly-'));

  const defaults = { stage: 'staging', port: '0', synth: false, watch: false, verbose: false };

  /** Returns the message of the UsageError that prevents the service from starting. */
  async function errorOf(options: Partial<ServiceOptions>): Promise<string> {
    const data = mkdtempSync(join(folders, 'data-'));
    const error: unknown = await startService({ ...defaults, data, assembly, ...options }).catch(
      (reason: unknown) => reason,
    );
    assert(error instanceof UsageError, String(error));
    return error.message;
  }

  const stacks = ['production', 'staging'].map(stackName);
  for (const stack of stacks) writeFileSync(join(assembly, `${stack}.template.json`), '{"Resources":');
  const empty = mkdtempSync(join(folders, 'assembly-'));
  test.each([
    [
      'is not valid JSON',
      {},
      'template.json cannot be read (Unexpected end of JSON input). Synthesize again ',
    ],
    [
      'is missing',
      { stage: 'test' },
      `${assembly} contains no stack ${stackName('test')}, but ${stacks.join(', ')}. Correct --stage or --assembly.`,
    ],
    [
      'is missing from an empty folder',
      { assembly: empty },
      `${empty} contains no stacks. Synthesize with npx cdk synth.`,
    ],
    [
      'is missing, as the folder is missing',
      { assembly: join(empty, 'none') },
      `The folder ${join(empty, 'none')} does not exist. Choose a folder with --assembly.`,
    ],
    [
      'is missing, as the folder is a file',
      { assembly: join(assembly, `${stackName('staging')}.template.json`) },
      `${stackName('staging')}.template.json is not a folder. Choose a folder with --assembly.`,
    ],
  ])("does not start if the stage's template %s", async (_case, options, problem) => {
    expect(await errorOf(options)).toContain(problem);
  });

  const damaged = /^The tables in \S+ are damaged \(.+\)\. Choose another folder .+ Delete the data only/;
  const unusable = /^The folder \S+ is unusable \(.+\)\. Do not delete the data\. Check .+ with --data\.$/;
  const isRoot = process.getuid?.() === 0; // Root can read any file, so for root the test creates a folder.
  test.each<[string, RegExp, (file: string) => void]>([
    ['is empty', damaged, (file) => writeFileSync(file, '')],
    ['names a missing file', damaged, (file) => writeFileSync(file, 'MANIFEST-7\n')],
    ['is unreadable', unusable, (file) => (isRoot ? mkdirSync(file) : writeFileSync(file, '', { mode: 0 }))],
  ])('does not start if the file CURRENT of the tables %s', async (_case, message, damage) => {
    const data = mkdtempSync(join(folders, 'data-'));
    mkdirSync(join(data, 'tables'));
    damage(join(data, 'tables', 'CURRENT'));
    expect(await errorOf({ data })).toMatch(message);
    expect(readdirSync(join(data, 'tables'))).toContain('CURRENT');
  });

  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const hosts = ['127.0.0.1', '::1'].filter((host) => addresses.some(({ address }) => address === host));
  /** Listens on a port of `host` that is free on the other hosts, so that another process cannot cause the error. */
  async function listenOnlyOn(host: string) {
    for (;;) {
      const server = createServer().listen(0, host);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const others = hosts.filter((one) => one !== host);
      const attempts = others.map(async (other) => {
        await using probe = createServer().listen(port, other);
        await once(probe, 'listening');
      });
      if ((await Promise.allSettled(attempts)).every(({ status }) => status === 'fulfilled')) return server;
      server.close();
    }
  }
  test.each(hosts)('does not start if the port is in use on %s', async (host) => {
    await using other = await listenOnlyOn(host);
    const { port } = other.address() as AddressInfo;
    expect(await errorOf({ port: port.toString() })).toBe(
      `Port ${port} cannot be used (listen EADDRINUSE: address already in use ${host}:${port}). Choose another port. ${help}`,
    );
  });

  test.each(hosts)('serves requests on a machine whose only loopback address is %s', async (host) => {
    simulateWithout(...['127.0.0.1', '::1'].filter((other) => other !== host));
    jest.spyOn(console, 'log').mockReturnValue();
    const { baseUrl, apiKey, close } = await startService({
      ...defaults,
      data: 'memory',
      assembly: (await sharedSynthesis()).assembly,
    });
    const url = baseUrl.replace('localhost', host === '::1' ? '[::1]' : host);
    const response = await fetch(`${url}${firstCollection.path}`, {
      headers: { Authorization: `Bearer ${apiKey}` },
    });
    await close();
    expect(response.status).toBe(200);
  });

  test('does not start on a machine without loopback addresses', async () => {
    simulateWithout('127.0.0.1', '::1');
    expect(await errorOf({})).toBe(
      `This machine has neither of the addresses 127.0.0.1 and ::1. Start its loopback interface, for example with ip link set lo up. ${help}`,
    );
  });

  test('does not start if the data folder cannot be created', async () => {
    const [file, link] = [join(folders, 'file'), join(folders, 'link')];
    writeFileSync(file, '');
    symlinkSync(join(folders, 'nowhere', 'else'), link, 'junction');
    const folderOfKernel = existsSync('/proc') ? ['/proc/data', '/proc/self'] : [];
    for (const data of [link, ...folderOfKernel]) expect(await errorOf({ data })).toMatch(unusable);
    for (const data of [file, join(file, 'data')])
      expect(await errorOf({ data })).toBe(`${file} is a file. Choose a folder with --data.`);
  });

  test('does not start if the data folder contains an API key for a different stage', async () => {
    const data = mkdtempSync(join(folders, 'data-'));
    writeFileSync(join(data, 'api-key'), `${keyPrefix('production')}key`);
    expect(await errorOf({ data, assembly: (await sharedSynthesis()).assembly })).toBe(
      `The folder ${data} is for a different stage. Choose another folder with --data.`,
    );
  });

  test('does not start if another process uses the data folder', async () => {
    const data = mkdtempSync(join(folders, 'data-'));
    const store = await openStore(join(data, 'tables'));
    expect(await errorOf({ data, assembly: '' })).toBe(
      `Another process uses the tables in ${join(data, 'tables')}. Stop the local service that uses this folder, or choose another folder. ${help}`,
    );
    expect(readdirSync(data)).toEqual(['tables']);
    await store.close();
  });
});
