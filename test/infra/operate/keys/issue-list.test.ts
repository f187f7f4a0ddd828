import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { revokeApiKey } from '../../../../infra/operate/keys/lifecycle.ts';
import { beginRotation } from '../../../../infra/operate/keys/rotation.ts';
import { operatorAccessKeyId } from '../../../../infra/local/dynamodb/dynamodb.ts';
import { type ApiKeyRecord, hashOf } from '../../../../shared/storage/api-keys.ts';
import { database } from '../../../../shared/storage/database.ts';
import {
  caller,
  hoursBetween,
  issued,
  kept,
  listed,
  put,
  run,
  runUnread,
  store,
  useDeployedKeys,
  working,
} from '../../../support/deployed-keys.ts';
import { done, refusal } from '../../../support/outcomes.ts';

jest.setTimeout(120_000); // for processes that start on a busy machine
useDeployedKeys();

const DAY = 86_400_000;

describe('issues a key', () => {
  test('for people to read, and shows it this once', async () => {
    const stdout = done(await run(['issue', '--owner', 'Acme', '--expires-in', '90d']));
    const lines = new Map(stdout.split('\n').map((line) => [line.split(' ')[0], line.slice(11)]));
    const key = lines.get('key')!;
    const record = (await working(key))!;
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
    const { keyId, createdAt } = (await working(key))!;
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
      expect(await working(output.trim())).toMatchObject({ owner: 'Acme' });
    }
  });

  test('and takes it back when nobody reads it', async () => {
    const line = refusal(await runUnread(['issue', '--owner', 'Nobody', '--quiet']));
    expect(await listed('Nobody')).toEqual([]);
    const [record] = (await kept('Nobody')) as [ApiKeyRecord];
    expect(record.revokedBy).toMatchObject({ caller, action: 'withdraw' });
    expect(line).toMatch(
      new RegExp(`^The key ${record.keyId} was taken back\\. Standard output cannot be written: .*EPIPE\\.$`),
    );
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

  test('more keys than come in one page, the newest first', async () => {
    const MOST_IN_ONE_WRITE = 25;
    const records = Array.from({ length: 250 }, (_none, index) => ({
      hash: hashOf(String(index)),
      keyId: `key_${(index * 7919 + 1).toString(16).padStart(12, '0')}`,
      stage: 'production',
      owner: 'Acme',
      start: 'pets_production_0000',
      createdAt: '2026-01-01T00:00:00.000Z',
    }));
    for (let first = 0; first < records.length; first += MOST_IN_ONE_WRITE) {
      const puts = records.slice(first, first + MOST_IN_ONE_WRITE).map((Item) => ({ PutRequest: { Item } }));
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
  });

  test('keys in columns, with the state of each, to whoever may only look', async () => {
    const [wide, plain, old, gone, odd] = [
      await issued('東京ペット 🐶'),
      await issued('Zoë', DAY),
      await issued('Old', -1),
      await issued('Gone'),
      await issued('Odd'),
    ];
    await revokeApiKey(store, gone.record, caller);
    // As another program may have written it, before there were audit lines.
    const { createdBy, ...unsigned } = odd.record;
    const harmful = { ...unsigned, owner: 'Odd\u001B[2J\nkey_0\u202E\u2028' };
    await put({ ...harmful, rotatedBy: createdBy!, successor: { keyId: 'key_1', hash: '' } });
    // In CI and elsewhere libraries take it that everybody wants colours.
    const colourful = { FORCE_COLOR: '1' };
    const stdout = done(await run(['list'], { accessKeyId: 'AKIAREADER', environment: colourful }));
    expect(stdout).not.toContain('\u001B');
    // Lines end with their text, however wide the terminal is.
    expect(stdout).not.toMatch(/ $/m);
    const [head, ...rows] = stdout.trimEnd().split('\n').map(readRow);
    expect(head!.cells).toEqual([
      'KEY ID',
      'STARTS WITH',
      'CREATED (UTC)',
      'EXPIRES (UTC)',
      'STATE',
      'OWNER',
    ]);
    for (const [{ key, record }, owner, expires, state] of [
      [wide, '東京ペット 🐶', 'never', 'active'],
      [plain, 'Zoë', minute(plain.record.expiresAt!), 'active'],
      [old, 'Old', minute(old.record.expiresAt!), 'expired'],
      [gone, 'Gone', 'never', 'revoked'],
      [odd, 'Odd [2J key_0', 'never', 'active (rotated)'],
    ] as const) {
      const { keyId, createdAt } = record;
      const row = rows.find(({ cells }) => cells[0] === keyId);
      expect(row?.cells).toEqual([keyId, key.slice(0, 17), minute(createdAt), expires, state, owner]);
    }
    for (const { columns } of rows) expect(columns).toEqual(head!.columns);
  });

  test('all that is known of the keys of an owner in a state for programs, but for hashes', async () => {
    const [{ key, record }, old, begun] = [
      await issued('Known', DAY),
      await issued('Known'),
      await issued('Known'),
    ];
    await beginRotation(store, begun.record, { caller });
    await revokeApiKey(store, record, caller);
    const { createdBy, ...unsigned } = old.record;
    await put({ ...unsigned, revokedAt: createdBy!.time });
    const list = ['list', '--json', '--owner', 'Known', '--state', 'revoked'];
    const { code, stdout, stderr } = await run(list);
    // Which is said of all keys, whatever was asked for.
    const warning = `The rotation of ${begun.record.keyId} is not complete: `;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(warning) });
    const common = { owner: 'Known', state: 'revoked', successor: null, rotatedBy: null };
    const { keyId, createdAt, expiresAt } = record;
    expect(JSON.parse(stdout)).toEqual([
      {
        ...common,
        keyId: old.record.keyId,
        start: old.key.slice(0, 17),
        createdAt: old.record.createdAt,
        createdBy: null,
        expiresAt: null,
        revokedAt: createdBy!.time,
        revokedBy: null,
      },
      {
        ...common,
        keyId,
        start: key.slice(0, 17),
        createdAt,
        createdBy: record.createdBy,
        expiresAt,
        revokedAt: expect.any(String),
        revokedBy: { time: expect.any(String), caller, action: 'revoke', keyId },
      },
    ]);
    expect(stdout).not.toContain(hashOf(key));
  });

  test('into a pipe that is closed without complaint', async () => {
    expect(done(await runUnread(['list'], production))).toBe('');
  });
});

/** As the list shows it. */
function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

/** The cells of a line of the list, and the columns at which they begin. */
function readRow(line: string): { cells: string[]; columns: number[] } {
  const matches = [...line.matchAll(/\S+(?: \S+)*/g)];
  return {
    cells: matches.map(([cell]) => cell),
    columns: matches.map(({ index }) => index),
  };
}
