import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { revokeApiKey } from '../../../../infra/operate/keys/lifecycle.ts';
import { type ApiKeyRecord, hashOf } from '../../../../shared/storage/api-keys.ts';
import { database } from '../../../../shared/storage/database.ts';
import {
  active,
  auditLine,
  caller,
  DAY,
  issue,
  keys,
  listed,
  stopClock,
  store,
  stored,
  time,
  useKeysInTables,
  works,
} from './keys-in-tables.ts';
import { done, errorOutput } from '../../../support/run-command.ts';

useKeysInTables();

async function put(Item: ApiKeyRecord): Promise<void> {
  await database.send(new PutCommand({ TableName: store.table, Item }));
}

/** Returns the time in the format `2026-11-21 17:43`. */
const minute = (at: string): string => at.slice(0, 16).replace('T', ' ');

const between = (start: string, end: string): number => Date.parse(end) - Date.parse(start);

describe('keys -- issue', () => {
  test('issues a key and shows it once', async () => {
    const stdout = done(await keys(['issue', '--owner', ' 東京ペット ', '--expires-in', '90d']));
    const key = /^key +(\S+)$/m.exec(stdout)![1]!;
    const record = await stored({ hash: hashOf(key) });
    const { keyId, createdAt, expiresAt } = record;
    expect(stdout).toBe(
      `key        ${key}\nkeyId      ${keyId}\nowner      東京ペット\ncreatedAt  ${createdAt}\n` +
        `expiresAt  ${expiresAt}\n\nSave this key now. It cannot be shown again.\n`,
    );
    expect(record).toMatchObject({ owner: '東京ペット', createdBy: auditLine('issue', keyId) });
    expect(between(createdAt, expiresAt!)).toBe(90 * DAY);
    const { Items } = await database.send(new ScanCommand({ TableName: store.table }));
    expect(JSON.stringify(Items)).toContain(keyId);
    expect(JSON.stringify(Items)).not.toContain(key.slice(20));
  });

  test('prints the key in the format that --json or --quiet selects', async () => {
    const { key, ...shown } = JSON.parse(done(await keys(['issue', '--owner', 'Acme', '--json'])));
    const { keyId, createdAt } = await stored({ hash: hashOf(key) });
    expect(shown).toEqual({ keyId, owner: 'Acme', createdAt, expiresAt: null });

    const output = done(await keys(['issue', '--owner', 'Acme', '--quiet']));
    expect(output).toMatch(/^pets_\w+\n$/);
    expect(await works(output.trim())).toBe(true);
  });
});

describe('keys -- list', () => {
  test('succeeds for a stage without keys even if nobody reads its output', async () => {
    expect(done(await keys(['list']))).toBe('No keys found.\n');
    expect(done(await keys(['list', '--json']))).toBe('[]\n');
    expect(done(await keys(['list'], { isUnread: true }))).toBe('');
  });

  test('prints a table with one row per key', async () => {
    const plain = await issue();
    const replacing = await issue(DAY, '東京ペット 🐶');
    const expired = await issue(-1);
    const revoked = await issue();
    const odd = await issue();
    await revokeApiKey(store, revoked.record, caller);
    await put({ ...replacing.record, replaces: plain.record.keyId });
    const rotatedBy = odd.record.createdBy;
    await put({ ...odd.record, owner: 'Odd\u001B[2J\nkey_0\u202E\u2028', rotatedBy });
    const stdout = done(await keys(['list']));
    expect(stdout).not.toMatch(/ $/m);
    const [head = '', ...rows] = stdout.trimEnd().split('\n');
    const titles = ['KEY ID', 'STARTS WITH', 'CREATED (UTC)', 'EXPIRES (UTC)', 'STATE', 'REPLACES', 'OWNER'];
    const starts = titles.map((title) => head.indexOf(title));
    const cellsOf = (line = '') =>
      starts.map((start, column) => line.slice(start, starts[column + 1]).trimEnd());
    expect(cellsOf(head)).toEqual(titles);
    for (const [{ record }, ...cells] of [
      [plain, 'never', 'active', '-', 'Acme'],
      [replacing, minute(replacing.record.expiresAt!), 'active', plain.record.keyId, '東京ペット 🐶'],
      [expired, minute(expired.record.expiresAt!), 'expired', '-', 'Acme'],
      [revoked, 'never', 'revoked', '-', 'Acme'],
      [odd, 'never', 'active (rotated)', '-', 'Odd [2J key_0'],
    ] as const) {
      const row = cellsOf(rows.find((line) => line.startsWith(record.keyId)));
      expect(row).toEqual([record.keyId, record.start, minute(record.createdAt), ...cells]);
    }
    expect(rows).toHaveLength(5);
  });

  test('prints the keys that match --owner and --state as JSON without hashes', async () => {
    const { record } = await issue(DAY, 'Known');
    await issue(undefined, 'Known');
    await revokeApiKey(store, (await issue()).record, caller);
    await revokeApiKey(store, record, caller);
    const stdout = done(await keys(['list', '--json', '--owner', ' Known', '--state', 'revoked']));
    const { keyId, createdAt, expiresAt } = record;
    const shown = {
      keyId,
      owner: 'Known',
      start: record.start,
      state: 'revoked',
      createdAt,
      createdBy: record.createdBy,
      expiresAt,
      replaces: null,
      successor: null,
      rotatedBy: null,
      revokedAt: time,
      revokedBy: auditLine('revoke', keyId),
    };
    expect(JSON.parse(stdout)).toEqual([shown]);
    expect(stdout).not.toContain(record.hash);
  });
});

describe('keys -- rotate', () => {
  test('keeps the lifetime and lets the old key work for 1 day by default', async () => {
    const { record } = await issue(90 * DAY);
    stopClock(Date.now() + 80 * DAY);
    const stdout = done(await keys(['rotate', record.keyId]));
    const key = /^key +(\S+)$/m.exec(stdout)![1]!;
    const [successor, { rotatedBy, expiresAt }] = [await stored({ hash: hashOf(key) }), await stored(record)];
    expect(stdout).toContain(`\nreplaces   ${record.keyId}, which expires at ${expiresAt}\n`);
    expect(stdout.split(key)).toHaveLength(2);
    expect(between(successor.createdAt, successor.expiresAt!)).toBe(90 * DAY);
    expect(between(rotatedBy!.time, expiresAt!)).toBe(DAY);
  });

  test('uses the overlap and lifetime that its options specify', async () => {
    const { keyId, ...old } = (await issue()).record;
    const options = ['--overlap', '2h', '--expires-in', '30d', '--json'];
    const { key, ...shown } = JSON.parse(done(await keys(['rotate', keyId, ...options])));
    const [successor, { rotatedBy, expiresAt }] = [await stored({ hash: hashOf(key) }), await stored(old)];
    expect(shown).toMatchObject({ keyId: successor.keyId, replaces: { keyId, expiresAt } });
    expect(between(shown.createdAt, shown.expiresAt)).toBe(30 * DAY);
    expect(Math.round(between(rotatedBy!.time, expiresAt!) / 60_000)).toBe(2 * 60);
  });
});

test.each(['issue', 'rotate'])(
  'keys -- %s revokes the new key if standard output cannot be written',
  async (action) => {
    const { record } = await issue();
    const command = action === 'issue' ? ['issue', '--owner', 'Acme'] : ['rotate', record.keyId];
    const line = errorOutput(await keys([...command, '--quiet'], { isUnread: true }));
    const { keyId, start, revokedBy } = (await listed()).find((other) => other.keyId !== record.keyId)!;
    expect(line).toBe(
      `The key ${keyId} (${start}…) was revoked. Do not use it. Writing to standard output failed: write EPIPE.`,
    );
    expect(revokedBy).toEqual(auditLine('revoke', keyId));
    expect(await stored(record)).toEqual(record);
  },
);

describe('keys -- revoke', () => {
  test.each([
    ['the operator declines', 'n\n'],
    ['standard input is empty', ''],
  ])('revokes no key if %s', async (_what, input) => {
    const { record } = await issue();
    const { code, stdout, stderr } = await keys(['revoke', record.keyId], { input });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /\[y\/N\] \n?No key was revoked\. To revoke a key without confirmation, add --yes\.\n$/,
    );
    expect(await active()).toEqual([record.keyId]);
  });

  test('keeps the successor of a key that is revoked with --yes', async () => {
    const { keyId } = (await issue()).record;
    const { keyId: successor } = JSON.parse(done(await keys(['rotate', keyId, '--json'])));
    const revoked = await keys(['revoke', keyId, '--yes', '--json']);
    const warning = `The successor is ${successor}. Revoke it too if it leaked.\n`;
    expect(revoked).toEqual({ code: 0, stdout: expect.any(String), stderr: warning });
    expect(JSON.parse(revoked.stdout)).toMatchObject({
      keyId,
      state: 'revoked',
      revokedBy: auditLine('revoke', keyId),
    });
    expect(await active()).toEqual([successor]);
    expect(await keys(['revoke', keyId, '--json'])).toEqual(revoked);
  });
});
