import { createInterface } from 'node:readline/promises';
import { type ApiKeyRecord, stateOf } from '../../../shared/storage/api-keys.ts';
import { plain, UsageError } from '../command.ts';
import type { IssuedKey } from './lifecycle.ts';

// The output of the command for keys: tables for people, JSON for programs.

/** @throws UsageError when nobody reads standard output, with the reason as its cause. */
export async function print(text: string): Promise<void> {
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((settle) => {
    process.stdout.once('error', settle);
    process.stdout.write(`${text}\n`, settle);
  });
  if (error) throw new UsageError(`Standard output cannot be written: ${error.message}.`, { cause: error });
}

/** Prints what a program reads, and warns of what npm writes there before. */
export function printForPrograms(text: string): Promise<void> {
  const { npm_lifecycle_event: script, npm_config_loglevel: level } = process.env;
  if (script === 'keys' && level !== 'silent' && !process.stdout.isTTY) {
    console.error('npm writes into this output too: with npm run --silent keys it does not.');
  }
  return print(text);
}

/** @param replaces the key that the new one replaces, and when that one expires. */
export function printNewKey(
  { key, record }: IssuedKey,
  { json, quiet }: { json?: true; quiet?: true },
  replaces?: { keyId: string; expiresAt: string },
): Promise<void> {
  if (quiet) return printForPrograms(key);
  const { keyId, owner, createdAt, expiresAt = null } = record;
  const shown = { key, keyId, owner, createdAt, expiresAt };
  if (json) return printForPrograms(JSON.stringify({ ...shown, ...(replaces && { replaces }) }));
  const lines = Object.entries({
    ...shown,
    owner: plain(owner),
    ...(replaces && { replaces: `${replaces.keyId}, which works until ${replaces.expiresAt}` }),
  }).map(([name, value]) => `${name.padEnd(10)} ${value ?? 'never'}`);
  return print([...lines, '', 'The key is shown this once; only its hash is kept.'].join('\n'));
}

export async function printList(records: ApiKeyRecord[], json?: true): Promise<void> {
  const printed = json
    ? printForPrograms(`[${records.map((record) => toJson(record)).join(',\n')}]`)
    : print(records.length > 0 ? tableOf(records) : 'No keys.');
  await printed.catch((error: UsageError) => {
    if ((error.cause as NodeJS.ErrnoException).code !== 'EPIPE') throw error; // `list | head` has read enough
  });
}

/** The owner comes last, because its characters may have any width on a terminal. */
function tableOf(records: ApiKeyRecord[]): string {
  const now = new Date();
  const rows = records.map((record) => [
    record.keyId,
    record.start,
    minute(record.createdAt),
    record.expiresAt ? minute(record.expiresAt) : 'never',
    `${stateOf(record, now)}${record.rotatedBy ? ' (rotated)' : ''}`,
    record.replaces ?? '-',
    plain(record.owner),
  ]);
  rows.unshift(['KEY ID', 'STARTS WITH', 'CREATED (UTC)', 'EXPIRES (UTC)', 'STATE', 'REPLACES', 'OWNER']);
  const widths = rows[0]!.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length), 0),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** All members of a record but hashes. */
export function toJson(record: ApiKeyRecord): string {
  const { keyId, owner, start, createdAt, createdBy, expiresAt, replaces, successor } = record;
  const { revokedAt, revokedBy, rotatedBy } = record;
  return JSON.stringify({
    keyId,
    owner,
    start,
    state: stateOf(record, new Date()),
    createdAt,
    createdBy: createdBy ?? null,
    expiresAt: expiresAt ?? null,
    replaces: replaces ?? null,
    successor: successor?.keyId ?? null,
    rotatedBy: rotatedBy ?? null,
    revokedAt: revokedAt ?? null,
    revokedBy: revokedBy ?? null,
  });
}

/** Asks for a yes on standard input; its end is a no. */
export async function confirm(question: string): Promise<boolean> {
  process.stderr.write(`${plain(question)} [y/N] `);
  for await (const answer of createInterface({ input: process.stdin }))
    return /^y(es)?$/i.test(answer.trim());
  console.error(); // ends the line of the question
  return false;
}

/** `2026-11-21 17:43` */
function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}
