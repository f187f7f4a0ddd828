import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { issueApiKey, type IssuedKey, listApiKeys, revokeApiKey } from '../../infra/key-lifecycle.ts';
import { readTemplate } from '../../infra/local/assembly.ts';
import { type Database, operatorAccessKeyId, startDatabase } from '../../infra/local/dynamodb.ts';
import { matchesArn } from '../../infra/local/permissions.ts';
import { accountId, region } from '../../infra/local/template.ts';
import {
  type ApiKeyRecord,
  generateApiKey,
  hashOf,
  type KeyStore,
  verifyApiKey,
} from '../../shared/api-keys.ts';
import { database } from '../../shared/database.ts';
import { sharedSynthesis } from '../support/assembly.ts';
import { type FakeAws, startFakeAws } from '../support/fake-aws.ts';
import { type ChooseFault, startFaultProxy } from '../support/fault-proxy.ts';
import { setFunctionsEnvironment } from '../support/real-database.ts';
import { type Outcome, refusal, runModule, type RunningModule, startModule } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

jest.setTimeout(120_000); // for processes that start on a busy machine

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const folder = temporaryFolder();
/** Of AWS there is nothing within reach but what a test adds. */
const nothing = {
  HOME: folder,
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  AWS_EC2_METADATA_DISABLED: 'true',
};

beforeAll(() => {
  // What the developer has set would reach the commands.
  for (const name of Object.keys(process.env)) if (/^(AWS|npm)_/.test(name)) delete process.env[name];
});

function keys(parameters: string[], environment: Record<string, string> = {}, input = ''): Promise<Outcome> {
  return runModule('infra/keys.ts', parameters, { ...nothing, ...environment }, input);
}

/** What the command printed when it did what it was told without a word of complaint. */
function done({ code, stdout, stderr }: Outcome): string {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('the command for keys', () => {
  test('explains itself when asked', async () => {
    const { code, stdout, stderr } = await keys(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: npm run keys -- /);
    expect([...stdout.matchAll(/^ {2}([a-z]+)/gm)].map(([, action]) => action)).toEqual([
      'issue',
      'list',
      'rotate',
      'revoke',
    ]);
  });

  test.each([
    ['issue', ['--stage', '--data', '--json', '--owner', '--expires-in', '--quiet', '--help']],
    ['list', ['--stage', '--data', '--json', '--owner', '--state', '--help']],
    ['rotate', ['--stage', '--data', '--json', '--overlap', '--expires-in', '--yes', '--quiet', '--help']],
    ['revoke', ['--stage', '--data', '--json', '--yes', '--help']],
  ])('lists what %s takes when asked', async (action, options) => {
    const { code, stdout, stderr } = await keys([action, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect([...stdout.matchAll(/^ +(?:-h, )?(--[a-z-]+) /gm)].map(([, option]) => option)).toEqual(options);
    // Whoever reads it does not count in milliseconds.
    expect(stdout).not.toMatch(/default: \d+\)/);
  });

  test('explains itself once and fails when told nothing', async () => {
    const { code, stdout, stderr } = await keys([]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.match(/^Usage: npm run keys -- /gm)).toHaveLength(1);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  describe('refuses in one sentence', () => {
    const staging = ['--stage', 'staging'];
    const issue = ['issue', ...staging, '--owner', 'Acme'];

    test.each([
      ['an action that it does not know', ['destroy', ...staging], /\b(command|action)\b.*\.$/],
      ['more than one action', ['issue', ...issue], /^Too many arguments for 'issue'\..*/],
      ['a missing stage', ['list'], /--stage .* not specified\.$/],
      ['an unknown stage', ['list', '--stage', 'test'], /'test' .*staging, production, local\.$/],
      ['a missing owner', ['issue', ...staging], /--owner .* not specified\.$/],
      ['an unknown option', [...issue, '--forever'], /^Unknown option '--forever'\.$/],
      ['two forms of output', [...issue, '--json', '--quiet'], /--quiet.*--json.*\.$/],
      ['a rotation of nothing', ['rotate', ...staging], /^Missing required argument 'keyId'\.$/],
      [
        'a duration without a unit',
        [...issue, '--expires-in', '90'],
        /--expires-in .*'90' is invalid\. It takes a number of days, hours or minutes, such as 90d\.$/,
      ],
      [
        'an overlap without a unit',
        ['rotate', 'key_1', ...staging, '--overlap', '24'],
        /--overlap .*'24' is/,
      ],
      [
        'an owner that steers the terminal and breaks its lines',
        ['issue', ...staging, '--owner', '\u001B[2J\nAcme\u202E'],
        /--owner .* is invalid\. It takes a name of 1 to 100 characters\.$/,
      ],
    ])('%s', async (_what, parameters, sentence) => {
      const line = refusal(await keys(parameters));
      expect(line).toMatch(sentence);
      expect(line).not.toMatch(/\p{C}/u);
    });

    // What a terminal shows is kept in logs and screenshots.
    test.each([
      ['the id of a key', (key: string) => ['revoke', key]],
      ['a second id', (key: string) => ['revoke', 'key_1', key]],
      ['an action', (key: string) => [key]],
    ])('a key in the place of %s, without saying it', async (_what, parametersWith) => {
      const key = generateApiKey('staging');
      expect(refusal(await keys([...parametersWith(key), ...staging]))).not.toContain(key.slice(13, 20));
    });

    test('a folder where no local service is', async () => {
      const parameters = ['list', '--stage', 'local', '--data', join(folder, 'nowhere')];
      expect(refusal(await keys(parameters))).toBe(
        `No local service runs on ${join(folder, 'nowhere')}: start it with npm start.`,
      );
    });

    test('a folder whose note of the local service is cut off', async () => {
      writeFileSync(join(folder, 'service.json'), '{"stage":');
      expect(refusal(await keys(['list', '--stage', 'local', '--data', folder]))).toBe(
        `No local service runs on ${folder}: start it with npm start.`,
      );
    });
  });
});

interface Statement {
  Action: string | string[];
  Resource: string | string[];
}

/** The policy that operators are told to ask for. */
function documentedPolicy(): Statement[] {
  const chapters = readFileSync(new URL('../../docs/api-keys.md', import.meta.url), 'utf8').split(/^## /m);
  const chapter = chapters.find((one) => one.startsWith('Permissions\n'))!;
  const policy = /```json\n(.*?)```/s.exec(chapter)![1]!;
  // Everything here is in one region and account.
  return JSON.parse(policy.replaceAll(/(arn:aws:[a-z]+):[a-z0-9-]+:\d{12}:/g, `$1:${region}:${accountId}:`))
    .Statement;
}

/** As CloudFormation names the table: after its stack and logical id, with a suffix of its own. */
const nameOfTable = (logicalId: string) => `PetStore-staging-${logicalId}-1ABCDEFGHIJKL`;
const caller = 'arn:aws:sts::000000000000:assumed-role/Operator/ada';

// The tables of the template stand in memory behind a guard with the policy of the documentation, by access key id.
describe('the command for the keys of a deployed stage', () => {
  const policy = documentedPolicy();
  // Who only looks at the list needs no more than the first two statements, it says.
  const statementsOf: Record<string, Statement[]> = { AKIAOPERATOR: policy, AKIAREADER: policy.slice(0, 2) };
  const used = new Set<string>();
  let store: KeyStore;
  let tables: Database;
  let aws: FakeAws;

  beforeAll(async () => {
    const template = readTemplate('staging', (await sharedSynthesis()).assembly);
    store = { stage: 'staging', table: nameOfTable(template.output('ApiKeysTable')) };
    tables = await startDatabase({
      folder: undefined,
      tables: template
        .resources('AWS::DynamoDB::GlobalTable')
        .map(({ logicalId, properties }) => ({ logicalId: nameOfTable(logicalId), properties })),
      isAllowed: mayDo,
    });
    setFunctionsEnvironment(template, tables.endpoint);
    const outputs = { BaseAddress: 'http://127.0.0.1:1/v1', ApiKeysTable: store.table };
    aws = await startFakeAws({
      // The keys of another stage are elsewhere in the same index.
      stacks: { 'PetStore-staging': outputs, 'PetStore-production': outputs },
      caller,
      refuse({ action, resource, accessKeyId }) {
        if (action.startsWith('sts:') || mayDo(accessKeyId, action, resource)) return undefined;
        return { status: 403, code: 'AccessDenied', message: `${accessKeyId} may not ${action}` };
      },
    });
  });
  afterAll(async () => {
    database.destroy();
    await aws.close();
    await tables.close();
  });

  function mayDo(accessKeyId: string, action: string, resource: string): boolean {
    if (accessKeyId === operatorAccessKeyId) return true;
    const allowing = statementsOf[accessKeyId]!.find(
      ({ Action, Resource }) =>
        [Action].flat().includes(action) && [Resource].flat().some((arn) => matchesArn(arn, resource)),
    );
    if (allowing) used.add(action);
    return allowing !== undefined;
  }

  interface RunOptions {
    stage?: string;
    accessKeyId?: string;
    input?: string;
    environment?: Record<string, string>;
  }

  /** Starts the command, with the credentials of an operator unless told otherwise. */
  function start(
    parameters: string[],
    { stage = 'staging', accessKeyId = 'AKIAOPERATOR', input, environment }: RunOptions = {},
  ): RunningModule {
    const settings = {
      ...nothing,
      ...aws.environment,
      AWS_ENDPOINT_URL_DYNAMODB: tables.endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: 'secret',
      ...environment,
    };
    return startModule('infra/keys.ts', [...parameters, '--stage', stage], settings, input);
  }

  function run(...parameters: Parameters<typeof start>): Promise<Outcome> {
    return start(...parameters).ended;
  }

  /** Runs it as a program does whose output nobody reads. */
  function runUnread(...parameters: Parameters<typeof start>): Promise<Outcome> {
    const { process: child, ended } = start(...parameters);
    child.stdout!.destroy();
    return ended;
  }

  /** A key that was issued before, by somebody else. */
  function issued(owner: string, lifetime?: number): Promise<IssuedKey> {
    return issueApiKey(store, { owner, lifetime, caller: 'arn:aws:iam::000000000000:user/grace' });
  }

  async function listed(owner: string): Promise<ApiKeyRecord[]> {
    const all = await Array.fromAsync(listApiKeys(store));
    return all.filter((record) => record.owner === owner);
  }

  /** All that the table holds of an owner's keys, listed or not. */
  async function kept(owner: string): Promise<ApiKeyRecord[]> {
    const { Items = [] } = await database.send(
      new ScanCommand({
        TableName: store.table,
        FilterExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': owner },
      }),
    );
    return Items as ApiKeyRecord[];
  }

  describe('issues a key', () => {
    test('for people to read, and shows it this once', async () => {
      const stdout = done(await run(['issue', '--owner', 'Acme', '--expires-in', '90d']));
      const lines = new Map(stdout.split('\n').map((line) => [line.split(' ')[0], line.slice(11)]));
      const key = lines.get('key')!;
      const record = (await verifyApiKey(store, key))!;
      const { keyId, createdAt } = record;
      expect(Object.fromEntries(lines)).toMatchObject({ keyId, owner: 'Acme', createdAt });
      expect(lines.get('expiresAt')).toBe(record.expiresAt);
      expect(hoursBetween(createdAt, record.expiresAt)).toBe(90 * 24);
      expect(record.createdBy).toEqual({ time: createdAt, caller, action: 'issue', keyId });
      expect(stdout.split(key)).toHaveLength(2);
      expect(JSON.stringify(await kept('Acme'))).not.toContain(key.slice(20));
    });

    test('for programs to read', async () => {
      const stdout = done(await run(['issue', '--owner', ' 東京ペット ', '--json']));
      const { key, ...shown } = JSON.parse(stdout);
      const { keyId, createdAt } = (await verifyApiKey(store, key))!;
      expect(shown).toEqual({ keyId, owner: '東京ペット', createdAt, expiresAt: null });
    });

    test('to be piped, and warns of npm where it would write into the pipe', async () => {
      const quiet = ['issue', '--owner', 'Acme', '--quiet'];
      const byNpm = { npm_lifecycle_event: 'keys', npm_config_loglevel: 'notice' };
      const { code, stdout, stderr } = await run(quiet, { environment: byNpm });
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^npm .*--silent.*\n$/) });
      const silently = { ...byNpm, npm_config_loglevel: 'silent' };
      for (const output of [stdout, done(await run(quiet, { environment: silently }))]) {
        expect(output).toMatch(/^pets_staging_\w{36}\n$/);
        expect(await verifyApiKey(store, output.trim())).toMatchObject({ owner: 'Acme' });
      }
    });

    test('and takes it back when nobody reads it', async () => {
      expect(refusal(await runUnread(['issue', '--owner', 'Nobody', '--quiet']))).toMatch(
        /^The key was taken back.*EPIPE\.$/,
      );
      expect(await listed('Nobody')).toEqual([]);
      expect(await kept('Nobody')).toEqual([
        expect.objectContaining({ revokedBy: expect.objectContaining({ caller, action: 'issue' }) }),
      ]);
    });

    test('for nobody who may only look at the list, and says what to ask for', async () => {
      const outcome = await run(['issue', '--owner', 'Eve'], { accessKeyId: 'AKIAREADER' });
      expect(refusal(outcome)).toMatch(
        /^AWS does not let you do this; ask for the policy in docs\/api-keys\.md, "Permissions": .*dynamodb:PutItem.*[^.]\.$/,
      );
      expect(await kept('Eve')).toEqual([]);
    });
  });

  describe('lists', () => {
    // The policy is for staging alone.
    const production = { stage: 'production', accessKeyId: operatorAccessKeyId };

    test('no keys of a stage that has none', async () => {
      expect(done(await run(['list'], production))).toBe('No keys.\n');
      expect(done(await run(['list', '--json'], production))).toBe('[]\n');
    });

    test('more keys than DynamoDB gives in one page, the newest first', async () => {
      const MOST_IN_ONE_WRITE = 25;
      const records = Array.from({ length: 1_000 }, (_none, index) => ({
        hash: hashOf(String(index)),
        keyId: `key_${(index * 7919 + 1).toString(16).padStart(12, '0')}`,
        stage: 'production',
        owner: 'Acme',
        // 2 MB in all; a page has one.
        filler: ' '.repeat(2_000),
        start: 'pets_production_0000',
        createdAt: '2026-01-01T00:00:00.000Z',
        createdBy: { time: '2026-01-01T00:00:00.000Z', caller, action: 'issue', keyId: '' },
      }));
      for (let first = 0; first < records.length; first += MOST_IN_ONE_WRITE) {
        const puts = records
          .slice(first, first + MOST_IN_ONE_WRITE)
          .map((Item) => ({ PutRequest: { Item } }));
        await database.send(new BatchWriteCommand({ RequestItems: { [store.table]: puts } }));
      }
      const newestFirst = records
        .map(({ keyId }) => keyId)
        .toSorted()
        .toReversed();
      const [, ...lines] = done(await run(['list'], production))
        .trimEnd()
        .split('\n');
      expect(lines.map((line) => line.split(' ')[0])).toEqual(newestFirst);
      const asJson = JSON.parse(done(await run(['list', '--json'], production)));
      expect(asJson.map(({ keyId }: ApiKeyRecord) => keyId)).toEqual(newestFirst);
    });

    test('keys in columns, with the state of each, to whoever may only look', async () => {
      const owners = ['東京ペット 🐶', 'Zoë', 'Old', 'Gone'];
      const [wide, plain, old, gone] = [
        await issued(owners[0]!),
        await issued(owners[1]!, DAY),
        await issued(owners[2]!, -1),
        await issued(owners[3]!),
      ];
      await revokeApiKey(store, gone.record, caller);
      const stdout = done(await run(['list'], { accessKeyId: 'AKIAREADER' }));
      // Lines end with their text, however wide the terminal is.
      expect(stdout).not.toMatch(/ $/m);
      const [head, ...rows] = stdout.trimEnd().split('\n').map(readRow);
      expect(head!.cells).toEqual([
        'KEY ID',
        'OWNER',
        'STARTS WITH',
        'CREATED (UTC)',
        'EXPIRES (UTC)',
        'STATE',
      ]);
      for (const [{ key, record }, expires, state] of [
        [wide, 'never', 'active'],
        [plain, minute(plain.record.expiresAt!), 'active'],
        [old, minute(old.record.expiresAt!), 'expired'],
        [gone, 'never', 'revoked'],
      ] as const) {
        const { keyId, owner, createdAt } = record;
        const row = rows.find(({ cells }) => cells[0] === keyId);
        expect(row?.cells).toEqual([keyId, owner, key.slice(0, 17), minute(createdAt), expires, state]);
      }
      for (const { columns } of rows) expect(columns).toEqual(head!.columns);
    });

    test('all that is known of the keys of an owner in a state for programs, but for hashes', async () => {
      const { key, record } = await issued('Known', DAY);
      await issued('Known');
      await revokeApiKey(store, record, caller);
      const stdout = done(await run(['list', '--json', '--owner', 'Known', '--state', 'revoked']));
      const { keyId, createdAt, createdBy, expiresAt } = record;
      expect(JSON.parse(stdout)).toEqual([
        {
          keyId,
          owner: 'Known',
          start: key.slice(0, 17),
          state: 'revoked',
          createdAt,
          createdBy,
          expiresAt,
          successor: null,
          rotatedBy: null,
          revokedAt: expect.any(String),
          revokedBy: { time: expect.any(String), caller, action: 'revoke', keyId },
        },
      ]);
      expect(stdout).not.toContain(hashOf(key));
    });

    test.each([
      ['people', []],
      ['programs', ['--json']],
    ])('into a pipe that is closed without complaint, for %s', async (_whom, format) => {
      expect(done(await runUnread(['list', ...format]))).toBe('');
    });
  });

  /** Starts a rotation behind a proxy that does this to the write that gives the key its end. */
  async function cutOff(
    { keyId }: ApiKeyRecord,
    atLastWrite: () => ReturnType<ChooseFault>,
    untilKilled: (child: ChildProcess) => Promise<unknown>,
  ): Promise<string> {
    const proxy = await startFaultProxy(tables.endpoint, async (_call, read) =>
      (await read()).includes('rotatedBy = ') ? atLastWrite() : undefined,
    );
    try {
      const environment = { AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint };
      const { process: child, ended } = start(['rotate', keyId, '--quiet'], { environment });
      await Promise.race([untilKilled(child), ended]);
      child.kill('SIGKILL');
      return (await ended).stdout.trim();
    } finally {
      await proxy.close();
    }
  }

  describe('rotates a key', () => {
    test('for as long as it was issued for, with a day in which both work', async () => {
      const { key, record } = await issued('Rotated', 90 * DAY);
      const stdout = done(await run(['rotate', record.keyId]));
      const shown = /^key +(\S+)$/m.exec(stdout)![1]!;
      const [successor, predecessor] = [await verifyApiKey(store, shown), await verifyApiKey(store, key)];
      expect(stdout).toMatch(
        new RegExp(`^replaces +${record.keyId}, which works until ${predecessor!.expiresAt}$`, 'm'),
      );
      expect(stdout.split(shown)).toHaveLength(2);

      const { keyId, createdAt } = successor!;
      expect(successor).toMatchObject({
        owner: 'Rotated',
        createdBy: { time: createdAt, caller, action: 'rotate', keyId },
      });
      expect(hoursBetween(createdAt, successor!.expiresAt)).toBe(90 * 24);
      const { rotatedBy, expiresAt } = predecessor!;
      expect(rotatedBy).toEqual({ time: expect.any(String), caller, action: 'rotate', keyId: record.keyId });
      expect(hoursBetween(rotatedBy!.time, expiresAt)).toBe(24);

      expect(refusal(await run(['rotate', record.keyId]))).toBe(
        `The key ${record.keyId} was rotated on ${rotatedBy!.time} by ${caller}: its successor is ${keyId}.`,
      );
      expect(await listed('Rotated')).toHaveLength(2);
      expect(JSON.stringify(await kept('Rotated'))).not.toContain(shown.slice(20));
    });

    test('as told, for programs', async () => {
      const { key, record } = await issued('Told');
      const parameters = ['rotate', record.keyId, '--overlap', '2h', '--expires-in', '30d', '--json'];
      const shown = JSON.parse(done(await run(parameters)));
      const { rotatedBy, expiresAt } = (await verifyApiKey(store, key))!;
      const { keyId } = (await verifyApiKey(store, shown.key))!;
      expect(shown).toMatchObject({ keyId, owner: 'Told', replaces: { keyId: record.keyId, expiresAt } });
      expect(hoursBetween(shown.createdAt, shown.expiresAt)).toBe(30 * 24);
      expect(hoursBetween(rotatedBy!.time, expiresAt)).toBe(2);
    });

    test('not when nobody reads the successor, and says to run it again', async () => {
      const { key, record } = await issued('Unread', 90 * DAY);
      const { code, stderr } = await runUnread(['rotate', record.keyId, '--quiet']);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^The rotation of .* is not complete: run it again.*\n.*EPIPE.*\n$/),
      });
      const { rotatedBy, expiresAt } = (await verifyApiKey(store, key))!;
      expect({ rotatedBy, expiresAt }).toEqual({ rotatedBy: undefined, expiresAt: record.expiresAt });
    });

    test('anew when the command was killed before the key got its end', async () => {
      const { key, record } = await issued('Cut off');
      const { keyId } = record;
      const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
      function hold(): Promise<undefined> {
        reach();
        return new Promise(() => {});
      }
      const abandoned = await cutOff(record, hold, () => reached);
      expect(await verifyApiKey(store, key)).toEqual({
        ...record,
        successor: { keyId: expect.any(String), hash: hashOf(abandoned) },
      });
      expect((await run(['list', '--owner', 'Cut off'])).stderr).toContain(
        `is not complete: run rotate ${keyId} again.`,
      );

      const { code, stdout, stderr } = await run(['rotate', keyId, '--quiet']);
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringMatching(
          /^A rotation of .* was cut off: the key that it may have shown stops working\.\n$/,
        ),
      });
      const successor = await verifyApiKey(store, stdout.trim());
      expect((await listed('Cut off')).map((one) => one.keyId)).toEqual([successor!.keyId, keyId]);
      expect(await verifyApiKey(store, key)).toHaveProperty('expiresAt');
      expect(await verifyApiKey(store, abandoned)).toBeUndefined();
    });

    test('not again when the command was killed as the key had got its end', async () => {
      const { key, record } = await issued('Cut off late');
      const shown = await cutOff(
        record,
        () => 'executed, answer delayed beyond the time-out',
        async (child) => {
          while (child.exitCode === null && !(await verifyApiKey(store, key))?.rotatedBy)
            await setImmediate();
        },
      );
      const { keyId } = (await verifyApiKey(store, shown))!;
      expect(refusal(await run(['rotate', record.keyId]))).toMatch(
        new RegExp(`its successor is ${keyId}\\.$`),
      );
      expect(await listed('Cut off late')).toHaveLength(2);
    });

    test('that there is, and no other', async () => {
      expect(refusal(await run(['rotate', 'key_0']))).toMatch(/^There is no key key_0 in staging: .*\.$/);
    });
  });

  describe('revokes a key', () => {
    test('when somebody says yes', async () => {
      const { key, record } = await issued('Asked');
      const { keyId, start: firstCharacters } = record;
      const { code, stdout, stderr } = await run(['revoke', keyId], { input: 'y\n' });
      expect(stderr).toBe(`Revoke ${keyId} of Asked (${firstCharacters}…)? [y/N] `);
      expect(await verifyApiKey(store, key)).toBeUndefined();
      const [{ revokedAt, revokedBy }] = (await listed('Asked')) as [ApiKeyRecord];
      expect(revokedBy).toEqual({ time: revokedAt, caller, action: 'revoke', keyId });
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringMatching(
          new RegExp(
            `^The key ${keyId} of Asked was revoked at ${revokedAt} by ${caller}\\.\\n.* 60 seconds `,
          ),
        ),
      });
    });

    test.each([
      ['somebody says no', 'n\n'],
      ['somebody says anything but yes', 'yikes\n'],
      ['nobody is there to answer', ''],
    ])('not when %s', async (_what, input) => {
      const { key, record } = await issued('Spared');
      const { code, stdout, stderr } = await run(['revoke', record.keyId], { input });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/\[y\/N\] \n?Nothing was revoked\. Where nobody can answer, add --yes\.\n$/);
      expect(await verifyApiKey(store, key)).toEqual(record);
    });

    test('unasked when told so, and one that is revoked as it was', async () => {
      const { key, record } = await issued('Unasked');
      const revoked = JSON.parse(done(await run(['revoke', record.keyId, '--yes', '--json'])));
      expect(revoked).toMatchObject({ keyId: record.keyId, state: 'revoked', revokedBy: { caller } });
      expect(await verifyApiKey(store, key)).toBeUndefined();
      // By whomever: the first counts.
      const again = JSON.parse(done(await run(['revoke', record.keyId, '--json'])));
      expect(again).toEqual(revoked);
    });
  });

  // Of all that was done above.
  test('takes all that its documentation has operators ask for', () => {
    expect([...used].toSorted()).toEqual(policy.flatMap(({ Action }) => Action).toSorted());
  });
});

function hoursBetween(begin: string, end: string | undefined): number {
  return Math.round((Date.parse(end!) - Date.parse(begin)) / HOUR);
}

/** As the list shows it. */
function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

/** The cells of a line of the list, and the columns of the terminal at which they begin. */
function readRow(line: string): { cells: string[]; columns: number[] } {
  const matches = [...line.matchAll(/\S+(?: \S+)*/g)];
  return {
    cells: matches.map(([cell]) => cell),
    columns: matches.map(({ index }) => columnsOf(line.slice(0, index))),
  };
}

/** Terminals give two columns to these characters (Unicode Standard Annex 11). */
function columnsOf(text: string): number {
  const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/u;
  return Array.from(text, (character) => (wide.test(character) ? 2 : 1)).reduce((sum, one) => sum + one, 0);
}
