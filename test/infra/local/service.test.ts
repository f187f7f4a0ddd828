import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedSynthesis } from '../../support/assembly.ts';
import { type LocalService, startLocalService } from '../../support/local-service.ts';
import { refusal } from '../../support/outcomes.ts';
import { type Outcome, runModule } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folders = temporaryFolder();
let assembly: string;
const running: LocalService[] = [];

beforeAll(async () => {
  ({ assembly } = await sharedSynthesis());
});
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
});

async function start(...options: string[]): Promise<LocalService> {
  const service = await startLocalService('--assembly', assembly, ...options);
  running.push(service);
  return service;
}

/** Stops the service that was started last. */
async function stop(signal?: NodeJS.Signals): Promise<number | null> {
  return running.pop()!.stop(signal);
}

interface Reply {
  status: number;
  body: any;
}

async function call(
  { baseAddress, apiKey }: LocalService,
  path: string,
  init: RequestInit = {},
): Promise<Reply> {
  const response = await fetch(`${baseAddress}${path}`, {
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    ...init,
  });
  return { status: response.status, body: await response.json() };
}

function addPet(service: LocalService, name: string): Promise<Reply> {
  return call(service, '/pets', { method: 'POST', body: JSON.stringify({ name, categoryId: 1 }) });
}

/** Issues a key for the local service on this data folder. */
function issueFor(data: string, ...options: string[]): Promise<Outcome> {
  const parameters = ['issue', '--stage', 'local', '--data', data, '--owner', 'Acme', ...options];
  return runModule('infra/operate/keys/main.ts', parameters);
}

/** The working folders of the service, which contain its key. */
function temporaryFoldersOf({ apiKey }: LocalService): string[] {
  const keys = globSync(join(tmpdir(), 'petstore-*', 'api-key'));
  return keys.filter((file) => readFileSync(file, 'utf8') === apiKey);
}

describe('the local service', () => {
  test.each([
    ['SIGTERM', 0],
    ['SIGKILL', null],
  ] as const)('keeps its pets and its key over %s', async (signal, code) => {
    const data = mkdtempSync(join(folders, 'data-'));
    const first = await start('--data', data);
    const { status, body: pet } = await addPet(first, 'Rex');
    expect(status).toBe(201);
    expect(await stop(signal)).toBe(code);

    const second = await start('--data', data);
    expect(second.apiKey).toBe(first.apiKey);
    expect(statSync(join(data, 'api-key')).mode.toString(8)).toBe('100600');
    expect(await call(second, `/pets/${pet.id}`)).toEqual({ status: 200, body: pet });
    expect(await call(second, '/pets')).toEqual({ status: 200, body: [pet] });
  });

  test('responds to all requests in progress when it gets SIGINT, and SIGTERM after it', async () => {
    const service = await start();
    const ended = once(service.process, 'close');
    let isEnding = false;
    async function addOnAndOn(): Promise<number> {
      for (let added = 0; ; added += 1) {
        const reply = await addPet(service, 'Rex').catch(() => undefined);
        if (!reply) return added;
        expect(reply.status).toBe(201);
        if (added === 2 && !isEnding) {
          isEnding = true;
          // For Ctrl-C in a terminal, npm sends a second signal.
          service.process.kill('SIGINT');
          service.process.kill('SIGTERM');
        }
      }
    }
    const added = await Promise.all(Array.from({ length: 10 }, addOnAndOn));
    expect(await ended).toEqual([0, null]);
    const answered = service.output().match(/POST \/v1\/pets 201/g);
    expect(answered).toHaveLength(added.reduce((one, other) => one + other));
    expect(service.output()).not.toMatch(/exited with|Error/);
  });

  test('in memory leaves nothing in the temporary folder', async () => {
    const service = await start('--data', 'memory');
    expect((await addPet(service, 'Rex')).status).toBe(201);
    expect(temporaryFoldersOf(service)).toHaveLength(1);
    expect(await stop()).toBe(0);
    expect(temporaryFoldersOf(service)).toEqual([]);
  });

  test('prints a line for each request, and the key only at its start', async () => {
    const service = await start();
    const banner = service.output();
    await addPet(service, 'Rex');
    await call(service, '/pets?limit=5&status=sold');
    await call(service, '/pets/5');
    await call(service, '/nowhere', { method: 'PUT' });
    await call(service, '/pets', { headers: { Authorization: `Bearer ${service.apiKey}x` } });
    expect(await stop('SIGINT')).toBe(0);

    const printed = service.output().slice(banner.length);
    expect(banner).toContain(`curl -H 'Authorization: Bearer ${service.apiKey}' ${service.baseAddress}/pets`);
    expect(printed).not.toContain(service.apiKey.slice(0, 20));
    expect(printed).not.toMatch(/limit|Bearer|local development/);
    const lines = printed
      .split('\n')
      .flatMap((line) => /^\S+Z (\S+ \S+ \d+) \d+\.\d ms$/.exec(line)?.[1] ?? []);
    expect(lines).toEqual([
      'POST /v1/pets 201',
      'GET /v1/pets 200',
      'GET /v1/pets/5 404',
      'PUT /v1/nowhere 404',
      'GET /v1/pets 401',
    ]);
  });

  test('issues another key when the tables with the hash of the first are gone', async () => {
    const data = mkdtempSync(join(folders, 'data-'));
    const first = await start('--data', data);
    await stop();
    rmSync(join(data, 'tables'), { recursive: true });

    const second = await start('--data', data);
    expect(second.apiKey).not.toBe(first.apiKey);
    expect((await call(second, '/pets')).status).toBe(200);
  });

  test("starts in a shell with the developer's own AWS settings", async () => {
    const own = {
      AWS_PROFILE: 'work',
      AWS_REGION: 'eu-west-1',
      AWS_SESSION_TOKEN: 'token',
      AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    };
    const before = { ...process.env };
    Object.assign(process.env, own);
    try {
      const service = await start();
      expect((await addPet(service, 'Rex')).status).toBe(201);
    } finally {
      process.env = before;
    }
  });

  test('does not start on the data of another stage', async () => {
    const data = mkdtempSync(join(folders, 'data-'));
    await start('--data', data);
    await stop();
    await expect(start('--stage', 'production', '--data', data)).rejects.toThrow(
      `The folder ${data} holds the data of another stage: choose another with --data.`,
    );
  });

  test('runs the production stack, which rejects a staging key', async () => {
    const [staging, production] = [await start(), await start('--stage', 'production')];
    expect(production.apiKey).toMatch(/^pets_production_/);
    expect((await call(production, '/pets')).status).toBe(200);
    expect(await call({ ...production, apiKey: staging.apiKey }, '/pets')).toMatchObject({
      status: 401,
      body: { code: 'unauthorized', status: 401 },
    });
  });
});

describe('the operator command on the local service', () => {
  test('issues a key that works, until the service is killed', async () => {
    const data = mkdtempSync(join(folders, 'data-'));
    const service = await start('--data', data);
    const { code, stdout, stderr } = await issueFor(data, '--quiet');
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^pets_staging_\w{36}\n$/), '']);
    expect((await call({ ...service, apiKey: stdout.trim() }, '/pets')).status).toBe(200);
    expect(service.output()).not.toContain(stdout.trim());

    await stop('SIGKILL');
    expect(existsSync(join(data, 'service.json'))).toBe(true);
    expect(refusal(await issueFor(data))).toBe(`No local service runs on ${data}: start it with npm start.`);
  });
});
