import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as keyStore from '../../infra/operate/key-store.ts';
import { generateApiKey, hashOf } from '../../shared/api-keys.ts';
import { database } from '../../shared/storage/database.ts';
import {
  active,
  auditLine,
  caller,
  DAY,
  issue,
  keys,
  rotate,
  stopClock,
  store,
  stored,
  time,
  useKeysInTables,
} from './keys-in-tables.ts';
import { blockWith } from '../support/markdown-code.ts';
import { done, errorOutput, runModule } from '../support/run-command.ts';

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
    expect(shown).toEqual({
      keyId,
      owner: 'Acme',
      readOnly: false,
      createdAt,
      expiresAt: null,
      replaces: null,
    });
  });

  test('issues a key that can only read if --read-only is set', async () => {
    const stdout = done(await keys(['issue', '--owner', 'Acme', '--read-only']));
    const { key = '', access } = shownIn(stdout);
    expect(access).toBe('read');
    expect(await stored({ hash: hashOf(key) })).toHaveProperty('readOnly', true);
  });
});

describe('npm run keys -- list', () => {
  test('succeeds for a stage without keys, even if standard output is closed', async () => {
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
    const odd = await issue(undefined, 'Odd\u001B[2J\nkey_0\u202E\u2028');
    const stdout = done(await keys(['list']));
    expect(stdout).not.toMatch(/ $/m);
    const [, ...rows] = Array.from(stdout.trimEnd().split('\n'), (line) => line.split(/ {2,}/));
    for (const [{ record }, ...cells] of [
      [rotated, minute(rotated.record.expiresAt!), 'active (rotated)', 'read, write', '-', '東京ペット 🐶'],
      [
        successor,
        minute(successor.record.expiresAt!),
        'active',
        'read, write',
        rotated.record.keyId,
        '東京ペット 🐶',
      ],
      [expired, minute(expired.record.expiresAt!), 'expired', 'read, write', '-', 'Acme'],
      [revoked, 'never', 'revoked', 'read, write', '-', 'Acme'],
      [readOnly, 'never', 'active', 'read', '-', 'Acme'],
      [odd, 'never', 'active', 'read, write', '-', 'Odd [2J key_0'],
    ] as const) {
      expect(rows).toContainEqual([record.keyId, record.start, minute(record.createdAt), ...cells]);
    }
    expect(rows).toHaveLength(6);
  });

  test('prints JSON without the hashes of the keys if --json is set', async () => {
    const { record } = await issue(DAY, 'Known');
    await keyStore.revokeApiKey(store, record, caller);
    const stdout = done(await keys(['list', '--json']));
    const { hash, stage: _stage, ...shown } = record;
    const absent = { readOnly: false, replaces: null, successor: null, rotatedBy: null };
    const revoked = { state: 'revoked', revokedAt: time, revokedBy: auditLine('revoke', record.keyId) };
    expect(JSON.parse(stdout)).toEqual([{ ...shown, ...absent, ...revoked }]);
    expect(stdout).not.toContain(hash);
  });
});

// Anyone who can write to the table can store control characters in every attribute, so the commands must remove them.
describe('for a record with control characters in its attributes,', () => {
  const odd = 'a\u001B[2J\u009B2J\u007F\r\nforged\u202E\u2028z';

  async function storeOdd(attributes: object): Promise<string> {
    const { record } = await issue(undefined, odd);
    const line = { action: 'issue', caller: odd, keyId: odd, time: odd };
    const Item = { ...record, start: odd, createdAt: odd, createdBy: line, replaces: odd, ...attributes };
    await database.send(new PutCommand({ TableName: store.table, Item }));
    return record.keyId;
  }

  const rotated = { rotatedBy: { caller: odd, time: odd }, successor: { keyId: odd }, expiresAt: odd };
  const revoked = { revokedBy: { caller: odd, time: odd }, revokedAt: odd, successor: { keyId: odd } };
  test.each([
    ['list', ['list'], rotated],
    ['list --json', ['list', '--json'], revoked],
    ['rotate', ['rotate', 'KEY_ID'], rotated],
    ['rotate', ['rotate', 'KEY_ID'], revoked],
    ['rotate --json', ['rotate', 'KEY_ID', '--json'], { createdAt: new Date().toISOString() }],
    ['rotate', ['rotate', 'KEY_ID'], { createdAt: new Date().toISOString() }],
    ['revoke', ['revoke', 'KEY_ID'], { successor: { keyId: odd } }],
    ['revoke', ['revoke', 'KEY_ID'], revoked],
    ['revoke --json', ['revoke', 'KEY_ID', '--json'], revoked],
  ])(
    '%s prints no control characters, and no line that the record forged',
    async (_name, args, attributes) => {
      const keyId = await storeOdd(attributes);
      const { stdout, stderr } = await keys(args.map((text) => (text === 'KEY_ID' ? keyId : text)));
      expect(stdout + stderr).toMatch(/a.*2J/);
      expect(stdout + stderr).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]|^forged/mu);
    },
  );

  test('list --json prints the attributes so that programs read them unchanged', async () => {
    await storeOdd(rotated);
    expect(JSON.parse(done(await keys(['list', '--json'])))).toMatchObject([
      { owner: odd, replaces: odd, successor: odd, rotatedBy: { caller: odd } },
    ]);
  });
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
  const documented = blockWith(`grep '"time":`, readFileSync('docs/api-keys.md', 'utf8'));
  const { stdout } = spawnSync('sh', ['-c', `npm() { echo "$LIST"; }\n${documented}`], {
    env: { PATH: process.env['PATH'], LIST: json },
    encoding: 'utf8',
  });
  const found = Array.from(stdout.matchAll(/"keyId":"(key_\w+)","owner"/g), ([, keyId]) => keyId);
  expect(found).toEqual([record.keyId, onDay.record.keyId]);
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

describe('npm run keys -- revoke', () => {
  test.each(['n\n', ''])('revokes no key if standard input is %j', async (input) => {
    const { record } = await issue();
    const { code, stdout, stderr } = await keys(['revoke', record.keyId], { input });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/\[y\/N\] \n?No key was revoked\./);
    expect(await active()).toEqual([record.keyId]);
  });

  test('revokes a key without confirmation if --yes is set, and keeps its successor active', async () => {
    const { keyId } = (await issue()).record;
    const { keyId: successor } = JSON.parse(done(await keys(['rotate', keyId, '--json'])));
    const revoked = await keys(['revoke', keyId, '--yes', '--json']);
    expect(revoked).toMatchObject({ code: 0, stderr: expect.stringContaining(successor) });
    const revokedBy = auditLine('revoke', keyId);
    expect(JSON.parse(revoked.stdout)).toMatchObject({ keyId, state: 'revoked', revokedBy });
    expect(await active()).toEqual([successor]);
    expect(await keys(['revoke', keyId, '--json'])).toEqual(revoked);
  });

  test('fails if the stage has no such key', async () => {
    expect(errorOutput(await keys(['revoke', 'key_01a1ff46e2b36d1473e3', '--yes']))).toBe(
      'There is no key key_01a1ff46e2b36d1473e3 in this stage. If the key is new, run the command again after a few seconds.',
    );
  });
});

// Error messages must not contain keys, because messages can appear in logs and screenshots.
describe('a message about wrong words contains no key:', () => {
  const key = generateApiKey('staging');

  test.each<[what: string, words: string[], named: RegExp]>([
    ['no action', [], /^The action must be issue, list, rotate, revoke\./],
    ['a key as the action', [key], /^The action must be issue/],
    ['no owner', ['issue'], /^--owner must be /],
    ['an owner with a key', ['issue', '--owner', `Acme ${key}`], /^--owner must be .* no API key\./],
    ['an owner with a control character', ['issue', '--owner', '\u001B[2J'], /^--owner must be /],
    ['an option as the owner', ['issue', '--owner=--json'], /^--owner must be /],
    [
      'a key as a duration',
      ['issue', '--owner', 'Acme', '--expires-in', key],
      /^--expires-in must be .* 90d/,
    ],
    ['a duration of nothing', ['rotate', 'key_1', '--overlap', '0d'], /^--overlap must be /],
    ['an option of another action', ['issue', '--owner', 'Acme', '--yes'], /^issue has no option --yes\./],
    ['no id', ['revoke'], /^revoke needs one KEY_ID/],
    ['a key as the id', ['revoke', key], /^revoke needs one KEY_ID/],
    ['a key as a second id', ['revoke', 'key_1', key], /^revoke needs one KEY_ID/],
    ['an id for an action without', ['list', key], /^list has no arguments but options\./],
    ['a key as an option', ['revoke', `--${key}`], /^Unknown option/],
  ])('%s', async (_what, words, named) => {
    const message = errorOutput(await keys(words));
    expect(message).toMatch(named);
    expect(message).not.toMatch(/\p{C}/u);
    expect(message).not.toContain(key.slice(13, 20));
  });
});

test('without the dashes before its options, npm run keys prints its usage', async () => {
  const ended = await runModule('infra/operate/keys.ts', ['list'], { npm_config_stage: 'staging' });
  expect(errorOutput(ended)).toContain('npm run keys -- ACTION --stage STAGE');
});
