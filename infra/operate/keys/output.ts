import { createInterface } from 'node:readline/promises';
import { type IssuedKey, stateOf } from '../../../shared/api-keys.ts';
import { plain, UsageError } from '../../command.ts';
import { isRecord, type KeyEntry } from './lifecycle.ts';

/**
 * Prints `text` and a line break.
 *
 * @throws UsageError if writing to standard output fails. Its `cause` is the stream's error.
 */
export async function print(text: string): Promise<void> {
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((settle) => {
    process.stdout.once('error', settle);
    process.stdout.write(`${text}\n`, settle);
  });
  if (error) throw new UsageError(`Writing to standard output failed: ${error.message}.`, { cause: error });
}

/**
 * Prints a new key, which cannot be shown again.
 *
 * @param replaces the old key and its expiry, if the key is a successor
 */
export function printNewKey(
  { key, record }: IssuedKey,
  { json, quiet }: { json?: boolean; quiet?: boolean },
  replaces?: { keyId: string; expiresAt: string },
): Promise<void> {
  if (quiet) return print(key);
  const { keyId, owner, readOnly = false, createdAt, expiresAt } = record;
  if (json) {
    const shown = { key, keyId, owner, readOnly, createdAt, expiresAt: expiresAt ?? null, replaces };
    return print(printable(JSON.stringify(shown)));
  }
  const shown = {
    key,
    keyId,
    owner,
    access: accessOf(record),
    createdAt,
    expiresAt: expiresAt ?? 'never',
    ...(replaces && { replaces: `${replaces.keyId}, which expires at ${replaces.expiresAt}` }),
  };
  const lines = Object.entries(shown).map(([name, value]) => plain(`${name.padEnd(10)} ${value}`));
  return print([...lines, '', 'Save this key now. It cannot be shown again.'].join('\n'));
}

/**
 * Prints keys as a table or as a JSON array.
 *
 * @throws UsageError if writing to standard output fails, unless its reader has ended
 */
export async function printList(records: KeyEntry[], json = false): Promise<void> {
  const text = json ? `[${records.map((record) => toJson(record)).join(',\n')}]` : tableOf(records);
  await print(text).catch((error: UsageError) => {
    if ((error.cause as NodeJS.ErrnoException).code !== 'EPIPE') throw error; // a reader such as `head` may end early
  });
}

/** Returns what a key allows, for people. */
const accessOf = ({ readOnly }: Pick<KeyEntry, 'readOnly'>) => (readOnly ? 'read' : 'read, write');

/** Returns an ISO 8601 time in the format `2026-11-21 17:43`. */
const minute = (time: string) => time.slice(0, 16).replace('T', ' ');

function tableOf(records: KeyEntry[]): string {
  if (records.length === 0) return 'No keys found.';
  // Anyone who can write to the table can store control characters, which could change what a terminal shows.
  const rows = records.map((record) =>
    [
      record.keyId,
      record.start,
      minute(record.createdAt),
      minute(record.expiresAt ?? (isRecord(record) ? 'never' : '-')),
      `${stateOf(record, new Date())}${record.rotatedBy ? ' (rotated)' : ''}`,
      isRecord(record) ? accessOf(record) : '-',
      record.replaces ?? '-',
      record.owner, // last, because characters of a name can have different widths
    ].map(plain),
  );
  rows.unshift([
    'KEY ID',
    'STARTS WITH',
    'CREATED (UTC)',
    'EXPIRES (UTC)',
    'STATE',
    'ACCESS',
    'REPLACES',
    'OWNER',
  ]);
  // A stage can have more keys than a function call can have arguments, so the rows are not arguments of Math.max.
  const widths = rows[0]!.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length), 0),
  );
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Returns a key's record or revocation as JSON. Absent fields are null. The hash of the key is not included. */
export function toJson(record: KeyEntry): string {
  const { keyId, owner, start, readOnly = false, createdAt, createdBy, expiresAt, replaces } = record;
  const { rotatedBy, revokedAt, revokedBy } = record;
  const issued = { keyId, owner, start, readOnly, state: stateOf(record, new Date()), createdAt, createdBy };
  const successor = record.successor?.keyId;
  const shown = { ...issued, expiresAt, replaces, successor, rotatedBy, revokedAt, revokedBy };
  return printable(JSON.stringify(shown, (_name, value: unknown) => value ?? null));
}

/** Escapes the nonprinting characters that JSON permits, such as U+009B, which starts a command to some terminals. */
function printable(json: string): string {
  return json.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    character.split('').map(escapeUnit).join(''),
  );
}

/** Returns a JSON escape, such as `\u009b`, of a UTF-16 code unit. */
function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Prints `question` and returns whether the next line of standard input is `y` or `yes`. */
export async function confirm(question: string): Promise<boolean> {
  process.stderr.write(`${plain(question)} [y/N] `);
  for await (const answer of createInterface({ input: process.stdin })) {
    return /^y(es)?$/i.test(answer.trim());
  }
  console.error(); // ends the line of the question
  return false;
}
