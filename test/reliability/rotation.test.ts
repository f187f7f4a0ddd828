import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSynthesis } from '../support/assembly.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { type LocalService, startLocalService } from '../support/local-service.ts';
import { done } from '../support/outcomes.ts';
import { type Outcome, type RunningModule, startModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Clients use the old key and the new one all the time while the command rotates, and none of them is ever refused. Its
// calls to the database wait until each client has been answered again. The authorizer's decisions are not kept here: if
// a key stopped working for a moment, its next request would show it.

jest.setTimeout(120_000); // for processes that start on a busy machine

const folder = temporaryFolder();
const data = join(folder, 'data');
/** Here too is the note of the service, but with the proxy as its database, which the command goes through. */
const behindProxy = mkdtempSync(join(folder, 'proxy-'));

let service: LocalService;
/** What the command lists of the key that the service has issued to itself. */
let ownRecord: any;
let proxy: FaultProxy;
/** What a call of the command to the database waits for. */
let beforeCall: (body: string) => Promise<unknown> = async () => {};
const clients: Client[] = [];

beforeAll(async () => {
  service = await startLocalService('--data', data, '--assembly', await assemblyWithoutCache());
  const note = JSON.parse(readFileSync(join(data, 'service.json'), 'utf8'));
  proxy = await startFaultProxy(note.databaseEndpoint, async (_call, read) => {
    await beforeCall(await read());
    return undefined;
  });
  const list = ['list', '--owner', 'local development', '--json'];
  [ownRecord] = JSON.parse(done(await start(list, data).ended));
  const changed = { ...note, databaseEndpoint: proxy.endpoint };
  writeFileSync(join(behindProxy, 'service.json'), JSON.stringify(changed));
});
afterEach(async () => {
  beforeCall = async () => {};
  await Promise.all(clients.splice(0).map((client) => client.stop()));
});
afterAll(async () => {
  await proxy.close();
  await service.stop();
});

async function assemblyWithoutCache(): Promise<string> {
  const assembly = join(folder, 'cdk.out');
  cpSync((await sharedSynthesis()).assembly, assembly, { recursive: true });
  const file = join(assembly, 'PetStore-staging.template.json');
  const template = readFileSync(file, 'utf8');
  const changed = template.replace(/("AuthorizerResultTtlInSeconds": )[1-9]\d*/, '$10');
  expect(changed).not.toBe(template);
  writeFileSync(file, changed);
  return assembly;
}

/** Starts the command on the local service, for a developer whose own settings lead elsewhere. */
function start(parameters: string[], folderOfNote = behindProxy): RunningModule {
  return startModule(
    'infra/operate/keys/main.ts',
    [...parameters, '--stage', 'local', '--data', folderOfNote],
    {
      AWS_PROFILE: 'production',
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_REGION: 'eu-central-1',
    },
  );
}

async function issue(owner: string): Promise<{ key: string; keyId: string }> {
  return JSON.parse(done(await start(['issue', '--owner', owner, '--json']).ended));
}

interface Client {
  /** What was asked for and the status of the answer, `GET 200`, one after the other; 0 without an answer. */
  answers: string[];
  /** Waits for the answers to so many requests that are sent from now on. */
  answered: (requests: number) => Promise<void>;
  stop: () => Promise<void>;
}

/** Uses a key all the time: creates a pet, reads it, lists, and begins again. */
function startClient(key: string): Client {
  const answers: string[] = [];
  const events = new EventEmitter();
  const stopping = new AbortController();

  async function ask(what: string, path: string, body?: string): Promise<any> {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body };
    const response = await fetch(`${service.baseAddress}${path}`, init).catch(() => undefined);
    const content = await response?.json().catch(() => undefined);
    answers.push(`${what} ${response?.status ?? 0}`);
    events.emit('answer');
    return content;
  }
  async function use(): Promise<void> {
    while (!stopping.signal.aborted) {
      const pet = await ask('create', '/pets', '{"name":"Rex","categoryId":1}');
      await ask('get', `/pets/${pet?.id ?? 1}`);
      await ask('list', '/pets?limit=1');
    }
  }
  const used = use();
  const client: Client = {
    answers,
    async answered(requests) {
      const enough = answers.length + 1 + requests; // one is under way
      while (answers.length < enough) await once(events, 'answer');
    },
    async stop() {
      stopping.abort();
      await used;
    },
  };
  clients.push(client);
  return client;
}

const A_ROUND = 3;

interface Rotation {
  ended: Promise<Outcome>;
  /** Uses the new key from the instant it is shown. */
  successor: Promise<Client>;
  kill: () => void;
}

/** Starts a rotation during which each client has an answer before every call to the database. */
function rotate(keyId: string): Rotation {
  const { process: child, ended } = start(['rotate', keyId, '--quiet']);
  const successor = once(child.stdout!, 'data').then(([key]) => startClient(String(key).trim()));
  beforeCall = async (body) => {
    if (isLastWrite(body)) await successor;
    await Promise.all(clients.map((client) => client.answered(1)));
  };
  return { ended, successor, kill: () => child.kill('SIGKILL') };
}

/** Whether a call is the one that gives the old key its end. */
function isLastWrite(body: string): boolean {
  return body.includes('rotatedBy = ');
}

describe('a client', () => {
  const allWell = new Set(['create 201', 'get 200', 'list 200']);

  /** Has both keys used for a round after the rotation, and looks at all that they were answered. */
  async function expectNoRefusal(old: Client, before: number, successor: Client): Promise<void> {
    const [oldDuring, successorDuring] = [old.answers.length - before, successor.answers.length];
    // The least that a rotation calls: find the key, read it, name the successor, put it, end the key.
    expect(oldDuring).toBeGreaterThanOrEqual(5);
    expect(successorDuring).toBeGreaterThanOrEqual(1);
    await Promise.all([old.answered(A_ROUND), successor.answered(A_ROUND)]);
    expect(new Set(old.answers)).toEqual(allWell);
    expect(new Set(successor.answers)).toEqual(allWell);
  }

  test('is never refused while its key is rotated, by the old key or the new one', async () => {
    const { key, keyId } = await issue('Acme');
    const old = startClient(key);
    await old.answered(A_ROUND);
    const before = old.answers.length;
    const { ended, successor } = rotate(keyId);
    expect(await ended).toMatchObject({ code: 0, stderr: '' });
    await expectNoRefusal(old, before, await successor);
  });

  test('is never refused by them when the rotation was cut off, and is completed', async () => {
    const { key, keyId } = await issue('Cut off');
    const old = startClient(key);
    await old.answered(A_ROUND);
    const before = old.answers.length;
    const cutOff = rotate(keyId);
    const slowly = beforeCall;
    beforeCall = async (body) => {
      await slowly(body);
      if (!isLastWrite(body)) return;
      cutOff.kill();
      await new Promise(() => {}); // it must not be executed
    };
    expect((await cutOff.ended).stdout).toMatch(/^pets_staging_/);

    beforeCall = () => Promise.all(clients.map((client) => client.answered(1)));
    done(await start(['rotate', keyId, '--complete']).ended);
    await expectNoRefusal(old, before, await cutOff.successor);
  });

  // What the others rely on: they would see it.
  test('is refused as soon as its key is revoked', async () => {
    const client = startClient(service.apiKey);
    await client.answered(A_ROUND);
    expect(new Set(client.answers)).toEqual(allWell);
    done(await start(['revoke', ownRecord.keyId, '--yes']).ended);
    const before = client.answers.length + 1;
    await client.answered(A_ROUND);
    expect(new Set(client.answers.slice(before))).toEqual(new Set(['create 401', 'get 401', 'list 401']));
  });
});

describe('the command for keys', () => {
  test('finds the service by its folder, and who it takes for its operator', () => {
    expect(service.apiKey.startsWith(ownRecord.start)).toBe(true);
    expect(ownRecord.createdBy).toMatchObject({
      caller: expect.stringMatching(/^arn:aws:iam::\d+:user\/operator$/),
    });
  });
});
