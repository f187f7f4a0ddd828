import { describe, expect, test } from '@jest/globals';
import { revokeApiKey } from '../../../../infra/operate/keys/lifecycle.ts';
import { operatorAccessKeyId } from '../../../../infra/local/dynamodb/dynamodb.ts';
import { type ApiKeyRecord, hashOf } from '../../../../shared/storage/api-keys.ts';
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

  test('to be piped', async () => {
    const output = done(await run(['issue', '--owner', 'Acme', '--quiet']));
    expect(output).toMatch(/^pets_staging_\w{36}\n$/);
    expect(await working(output.trim())).toMatchObject({ owner: 'Acme' });
  });

  test('and revokes it when nobody reads it', async () => {
    const line = refusal(await runUnread(['issue', '--owner', 'Nobody', '--quiet']));
    const [{ keyId, revokedBy }] = (await listed('Nobody')) as [ApiKeyRecord];
    expect(revokedBy).toMatchObject({ caller, action: 'revoke' });
    expect(line).toMatch(
      new RegExp(
        `^The key ${keyId} .* was revoked, so do not use it\\. Standard output cannot be written: .*EPIPE\\.$`,
      ),
    );
  });

  test('for nobody who may only look at the list, and says what to ask for', async () => {
    const outcome = await run(['issue', '--owner', 'Eve'], { accessKeyId: 'AKIAREADER' });
    expect(refusal(outcome)).toMatch(
      /^AWS does not allow this; ask for the policy in docs\/api-keys\.md, "Permissions": .*dynamodb:PutItem.*[^.]\.$/,
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

  test('keys in columns, with the state of each, to an operator who may only list', async () => {
    const [wide, narrow, old, gone, odd] = [
      await issued('東京ペット 🐶'),
      await issued('Zoë', DAY),
      await issued('Old', -1),
      await issued('Gone'),
      await issued('Odd'),
    ];
    await revokeApiKey(store, gone.record, caller);
    await put({ ...narrow.record, replaces: wide.record.keyId });
    // As another program may have written it.
    await put({ ...odd.record, owner: 'Odd\u001B[2J\nkey_0\u202E\u2028', rotatedBy: odd.record.createdBy! });
    const stdout = done(await run(['list'], { accessKeyId: 'AKIAREADER' }));
    expect(stdout).not.toContain('\u001B');
    expect(stdout).not.toMatch(/ $/m);
    const [head, ...rows] = stdout.trimEnd().split('\n').map(readRow);
    expect(head!.cells.join()).toBe('KEY ID,STARTS WITH,CREATED (UTC),EXPIRES (UTC),STATE,REPLACES,OWNER');
    for (const [{ key, record }, expires, state, replaces, owner] of [
      [wide, 'never', 'active', '-', '東京ペット 🐶'],
      [narrow, minute(narrow.record.expiresAt!), 'active', wide.record.keyId, 'Zoë'],
      [old, minute(old.record.expiresAt!), 'expired', '-', 'Old'],
      [gone, 'never', 'revoked', '-', 'Gone'],
      [odd, 'never', 'active (rotated)', '-', 'Odd [2J key_0'],
    ] as const) {
      const { keyId, createdAt } = record;
      const row = rows.find(({ cells }) => cells[0] === keyId);
      expect(row?.cells).toEqual([
        keyId,
        key.slice(0, 17),
        minute(createdAt),
        expires,
        state,
        replaces,
        owner,
      ]);
    }
    for (const { columns } of rows) expect(columns).toEqual(head!.columns);
  });

  test('all members of the keys of an owner in a state for programs, but no hashes', async () => {
    const [{ key, record }, old] = [await issued('Known', DAY), await issued('Known')];
    await issued('Known');
    await revokeApiKey(store, record, caller);
    // As earlier versions wrote it.
    const { createdBy, ...unsigned } = old.record;
    const successor = { keyId: 'key_2', hash: hashOf('another') };
    await put(Object.assign(unsigned, { revokedAt: createdBy!.time, rotatedBy: createdBy!, successor }));
    const stdout = done(await run(['list', '--json', '--owner', 'Known', '--state', 'revoked']));
    const common = { owner: 'Known', state: 'revoked', replaces: null };
    const { keyId, createdAt, expiresAt } = record;
    expect(JSON.parse(stdout)).toEqual([
      {
        ...common,
        keyId: old.record.keyId,
        start: old.key.slice(0, 17),
        createdAt: old.record.createdAt,
        createdBy: null,
        expiresAt: null,
        successor: 'key_2',
        rotatedBy: createdBy,
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
        successor: null,
        rotatedBy: null,
        revokedAt: expect.any(String),
        revokedBy: { time: expect.any(String), caller, action: 'revoke', keyId },
      },
    ]);
    for (const hash of [record.hash, successor.hash]) expect(stdout).not.toContain(hash);
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
