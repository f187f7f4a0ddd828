import { DynamoDBDocumentClient, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as keyStore from '../../infra/operate/key-store.ts';
import { generateApiKey, hashOf } from '../../shared/api-keys.ts';
import { database } from '../../shared/storage/database.ts';
import { blockWith } from '../support/markdown-code.ts';
import { done, errorOutput, startModule } from '../support/run-command.ts';
import { interrupt } from './in-process.ts';
import {
  notRevoked,
  auditLine,
  caller,
  DAY,
  issue,
  keys,
  listed,
  localStage,
  otherSettings,
  rotate,
  stopClock,
  store,
  stored,
  time,
  useKeysInTables,
} from './keys-in-tables.ts';

useKeysInTables();

/** Formats an ISO 8601 time as in `2026-11-21 17:43`. */
const minute = (at: string): string => at.slice(0, 16).replace('T', ' ');

const between = (start: string, end: string): number => Date.parse(end) - Date.parse(start);

/** Returns the fields that `issue` or `rotate` has printed, by name. */
const shownIn = (stdout: string): Record<string, string> =>
  Object.fromEntries(Array.from(stdout.matchAll(/^(\w+) {2,}(.*)$/gm), ([, name, value]) => [name, value]));

describe('npm run keys -- issue', () => {
  test('issues a key, shows it once and does not store it', async () => {
    const stdout = done(await keys(['issue', '--owner', ' 東京ペット ', '--expires-in', '90d']));
    const { key = '', ...shown } = shownIn(stdout);
    expect(stdout.split(key)).toHaveLength(2);
    const record = await stored({ hash: hashOf(key) });
    const { keyId, createdAt, expiresAt } = record;
    expect(shown).toEqual({ keyId, owner: '東京ペット', access: 'read, write', createdAt, expiresAt });
    expect(record).toMatchObject({ owner: '東京ペット', createdBy: auditLine('issue', keyId) });
    expect(between(createdAt, expiresAt!)).toBe(90 * DAY);
    const { Items } = await database.send(new ScanCommand({ TableName: store.table }));
    expect(JSON.stringify(Items)).toContain(keyId);
    expect(JSON.stringify(Items)).not.toContain(key.slice(20));
  });

  test('prints the key as JSON if --json is set', async () => {
    const { key, ...shown } = JSON.parse(done(await keys(['issue', '--owner', 'Acme', '--json'])));
    const { keyId, createdAt } = await stored({ hash: hashOf(key) });
    const absent = { expiresAt: null, replaces: null };
    expect(shown).toEqual({ keyId, owner: 'Acme', readOnly: false, createdAt, ...absent });
  });

  test('issues a key that can only read if --read-only is set', async () => {
    const { key = '', access } = shownIn(done(await keys(['issue', '--owner', 'Acme', '--read-only'])));
    expect(access).toBe('read');
    expect(await stored({ hash: hashOf(key) })).toHaveProperty('readOnly', true);
  });

  // This test starts a process, because only a process shows how a closed pipe ends.
  test('revokes a key that cannot be printed', async () => {
    const words = ['issue', '--owner', 'Acme', ...localStage];
    const { process, ended } = startModule('infra/operate/keys.ts', words, otherSettings);
    process.stdout!.destroy();
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The key key_\w+ \(\S+…\) was revoked\. .* EPIPE\.\n$/);
    expect(await notRevoked()).toEqual([]);
  });
});

describe('npm run keys -- list', () => {
  test('succeeds for a stage without keys, even if its output is not read to the end', async () => {
    expect(done(await keys(['list', '--json']))).toBe('[]\n');
    expect(done(await keys(['list'], { isRead: false }))).toBe('');
  });

  test('prints a table with one row per key', async () => {
    const rotated = await issue(DAY, '東京ペット 🐶');
    const successor = await rotate(rotated);
    const expired = await issue(-1);
    const revoked = await issue();
    await keyStore.revokeApiKey(store, revoked.record, caller);
    const readOnly = await keyStore.issueApiKey(store, { owner: 'Acme', readOnly: true, caller });
    const [, ...rows] = done(await keys(['list']))
      .trimEnd()
      .split('\n');
    const rowOf = ({ record }: typeof rotated, expiry: string, ...cells: string[]) =>
      [record.keyId, record.start, minute(record.createdAt), minute(expiry), ...cells].join(' ');
    const { keyId, expiresAt } = rotated.record;
    const expected = [
      rowOf(rotated, expiresAt!, 'active (rotated)', 'read, write', '-', '東京ペット 🐶'),
      rowOf(successor, successor.record.expiresAt!, 'active', 'read, write', keyId, '東京ペット 🐶'),
      rowOf(expired, expired.record.expiresAt!, 'expired', 'read, write', '-', 'Acme'),
      rowOf(revoked, 'never', 'revoked', 'read, write', '-', 'Acme'),
      rowOf(readOnly, 'never', 'active', 'read', '-', 'Acme'),
    ];
    expect(rows.map((row) => row.replaceAll(/ +/g, ' ')).toSorted()).toEqual(expected.toSorted());
  });

  test('prints JSON without the hashes of the keys if --json is set', async () => {
    const { record } = await issue(DAY, 'Known');
    await keyStore.revokeApiKey(store, record, caller);
    const stdout = done(await keys(['list', '--json']));
    const { hash, stage: _stage, ...shown } = record;
    const absent = { readOnly: false, replaces: null, successor: null, rotatedBy: null };
    const revoked = {
      state: expect.any(String),
      revokedAt: time,
      revokedBy: auditLine('revoke', record.keyId),
    };
    expect(JSON.parse(stdout)).toEqual([{ ...shown, ...absent, ...revoked }]);
    expect(stdout).not.toContain(hash);
  });
});

describe('npm run keys -- rotate', () => {
  test('issues a successor with the same lifetime, and lets the old key expire after 1 day by default', async () => {
    stopClock(Date.now() - 80 * DAY);
    const { record } = await issue(90 * DAY);
    jest.restoreAllMocks();
    const { key = '', replaces } = shownIn(done(await keys(['rotate', record.keyId])));
    const [successor, { rotatedBy, expiresAt }] = [await stored({ hash: hashOf(key) }), await stored(record)];
    expect(replaces).toBe(`${record.keyId}, which expires at ${expiresAt}`);
    expect(between(successor.createdAt, successor.expiresAt!)).toBe(90 * DAY);
    expect(Math.round(between(rotatedBy!.time, expiresAt!) / 60_000)).toBe(24 * 60);
  });

  test('uses the overlap and lifetime in --overlap and --expires-in', async () => {
    const { keyId, ...old } = (await issue()).record;
    const options = ['--overlap', '2h', '--expires-in', '30d', '--json'];
    const shown = JSON.parse(done(await keys(['rotate', keyId, ...options])));
    const { rotatedBy, expiresAt, successor } = await stored(old);
    expect(shown).toMatchObject({ ...successor, replaces: { keyId, expiresAt } });
    expect(between(shown.createdAt, shown.expiresAt)).toBe(30 * DAY);
    expect(Math.round(between(rotatedBy!.time, expiresAt!) / 60_000)).toBe(2 * 60);
  });
});

test.each(['issue', 'rotate'])('npm run keys -- %s shows the new key despite Ctrl-C', async (action) => {
  const { record } = await issue();
  const send = jest.spyOn(DynamoDBDocumentClient.prototype, 'send');
  const original = send.getMockImplementation()!;
  send.mockImplementation(function (this: DynamoDBDocumentClient, ...call) {
    if (call[0] instanceof PutCommand) {
      interrupt();
      interrupt(); // npm can repeat the signal.
    }
    return Reflect.apply(original, this, call);
  });
  const words = action === 'issue' ? ['issue', '--owner', 'Acme'] : ['rotate', record.keyId];
  const { code, stdout, stderr } = await keys([...words, '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Finishing this step before exiting …\n' });
  const { keyId, replaces } = await stored({ hash: hashOf(JSON.parse(stdout).key) });
  expect(await notRevoked()).toEqual([record.keyId, keyId].toSorted());
  expect((await stored(record)).successor?.keyId).toBe(replaces && keyId);
});

describe('npm run keys -- revoke', () => {
  test('asks whether to revoke the key', async () => {
    const { keyId, start } = (await issue()).record;
    for (const input of ['n\n', '\n', '']) {
      const { code, stdout, stderr } = await keys(['revoke', keyId], { input });
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/ \[y\/N\] \n?No key was revoked\./);
    }
    expect(await notRevoked()).toEqual([keyId]);

    const { code, stdout, stderr } = await keys(['revoke', keyId], { input: 'y\n' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Revoke ${keyId} of Acme (${start}…)? [y/N] ` });
    expect(stdout).toMatch(
      /^The key key_\w+ of Acme was revoked at \S+ by arn:aws:\S+\n.* 60 more seconds, /,
    );
    expect(await notRevoked()).toEqual([]);
  });

  test('does not ask if --yes is set, and keeps the successor active', async () => {
    const { keyId } = (await issue()).record;
    const { keyId: successor } = JSON.parse(done(await keys(['rotate', keyId, '--json'])));
    const revoked = await keys(['revoke', keyId, '--yes', '--json']);
    expect(revoked).toMatchObject({ code: 0, stderr: expect.stringContaining(successor) });
    const revokedBy = auditLine('revoke', keyId);
    expect(JSON.parse(revoked.stdout)).toMatchObject({ keyId, state: 'revoked', revokedBy });
    expect(await notRevoked()).toEqual([successor]);
    expect(await keys(['revoke', keyId, '--json'])).toEqual(revoked);
  });

  test('fails if the stage has no such key', async () => {
    expect(errorOutput(await keys(['revoke', 'key_01a1ff46e2b36d1473e3', '--yes']))).toMatch(
      /^There is no key key_01a1ff46e2b36d1473e3 in this stage\./,
    );
  });
});

// Anyone who can write to the table can store control characters in every attribute.
describe('for a record with control characters in its attributes,', () => {
  const odd = 'a\u001B[2J\u009B2J\u007F\r\nforged\u202E\u2028z';
  const createdAt = new Date().toISOString();
  const rotated = { rotatedBy: { caller: odd, time: odd }, successor: { keyId: odd }, expiresAt: odd };
  const revoked = { revokedBy: { caller: odd, time: odd }, revokedAt: odd, successor: { keyId: odd } };

  /** Stores the record of a key, and returns the key's id. */
  async function storeOdd(attributes: object): Promise<string> {
    const { record } = await issue(undefined, odd);
    const line = { action: 'issue', caller: odd, keyId: odd, time: odd };
    const Item = { ...record, start: odd, createdAt: odd, createdBy: line, replaces: odd, ...attributes };
    await database.send(new PutCommand({ TableName: store.table, Item }));
    return record.keyId;
  }

  test('commands print no control characters, and no line that the record forged', async () => {
    const dangerous: Record<string, string[] | null> = {};
    for (const [command, what, attributes] of [
      ['list', 'rotated', rotated],
      ['list --json', 'revoked', revoked],
      ['rotate KEY_ID', 'rotated', rotated],
      ['rotate KEY_ID', 'revoked', revoked],
      ['rotate KEY_ID', 'active', { createdAt }],
      ['rotate KEY_ID --json', 'active', { createdAt }],
      ['revoke KEY_ID', 'rotated', { successor: { keyId: odd } }],
      ['revoke KEY_ID', 'revoked', revoked],
      ['revoke KEY_ID --json', 'revoked', revoked],
    ] as const) {
      const keyId = await storeOdd(attributes);
      const { stdout, stderr } = await keys(command.replace('KEY_ID', keyId).split(' '));
      const printed = stdout + stderr;
      expect(printed).toMatch(/a.*2J/);
      dangerous[`${command} (${what})`] = printed.match(/[^\P{C}\n]|[\p{Zl}\p{Zp}]|^forged/gmu);
    }
    expect(Object.entries(dangerous).filter(([, found]) => found)).toEqual([]);
    expect(Object.keys(dangerous)).toHaveLength(9);
  });

  test('list --json prints the attributes so that programs read them unchanged', async () => {
    await storeOdd(rotated);
    expect(JSON.parse(done(await keys(['list', '--json'])))).toMatchObject([
      { owner: odd, replaces: odd, successor: odd, rotatedBy: { caller: odd } },
    ]);
  });
});

// Messages can appear in logs and screenshots.
test('a message about wrong words contains no key', async () => {
  const key = generateApiKey('staging');
  const wrong: [words: string[], message: string][] = [
    [[key], 'The action must be issue, list'],
    [['issue'], '--owner must be '],
    [['issue', '--owner', `Acme ${key}`], '--owner must be '],
    [['issue', '--owner', '\u001B[2J'], '--owner must be '],
    [['issue', '--owner=--json'], '--owner must be '],
    [['issue', '--owner', 'Acme', '--expires-in', key], '--expires-in must be '],
    [['rotate', 'key_1', '--overlap', '0d'], '--overlap must be '],
    [['issue', '--owner', 'Acme', '--yes'], 'issue has no option --yes.'],
    [['revoke'], 'revoke needs one KEY_ID'],
    [['revoke', key], 'revoke needs one KEY_ID'],
    [['revoke', 'key_1', key], 'revoke needs one KEY_ID'],
    [['list', key], 'list has no arguments'],
  ];
  const messages = await Array.fromAsync(wrong, async ([words]) => errorOutput(await keys(words)));
  const starts = messages.map((message, index) => message.slice(0, wrong[index]![1].length));
  expect(starts).toEqual(wrong.map(([, message]) => message));
  expect(messages.join()).not.toContain(key.slice(13, 20));
  expect(await listed()).toEqual([]);
});

test('the documented search of the audit trail finds only callers and times, even if the names of owners look like them', async () => {
  const jane = 'arn:aws:sts::123456789012:assumed-role/Operator/jane';
  const day = '2026-11-21T18:03:22.257Z';
  const { record } = await keyStore.issueApiKey(store, { owner: 'Acme', caller: jane });
  stopClock(Date.parse(day));
  const onDay = await issue();
  jest.restoreAllMocks();
  for (const owner of [
    'Books/jane',
    `"caller":"${jane}"`,
    `"time":"${day}"`,
    `{"createdBy":{"time":"${day}"}}`,
  ])
    await issue(undefined, owner);
  const json = done(await keys(['list', '--json']));
  const documented = blockWith(`grep '"time":`, readFileSync('docs/keys.md', 'utf8'));
  const { stdout } = spawnSync('sh', ['-c', `npm() { echo "$LIST"; }\n${documented}`], {
    env: { PATH: process.env['PATH'], LIST: json },
    encoding: 'utf8',
  });
  const found = Array.from(stdout.matchAll(/"keyId":"(key_\w+)","owner"/g), ([, keyId]) => keyId);
  expect(found).toEqual([record.keyId, onDay.record.keyId]);
});
