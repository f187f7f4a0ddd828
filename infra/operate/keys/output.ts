import Table from 'cli-table3';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { type ApiKeyRecord, stateOf } from '../../../shared/storage/api-keys.ts';
import { plain, UsageError } from '../command.ts';
import type { IssuedKey } from './lifecycle.ts';

// What the command for keys shows: tables for people, JSON for programs.

interface Format {
  json?: true | undefined;
}

interface NewKeyFormat extends Format {
  /** The key alone. */
  quiet?: true | undefined;
  /** The key that it replaces, and when that one expires. */
  replaces?: { keyId: string; expiresAt: string };
}

/**
 * Writes to standard output.
 *
 * @throws UsageError when nobody has read it, with the `code` of why.
 */
export async function print(text: string): Promise<void> {
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((settle) => {
    process.stdout.once('error', settle);
    process.stdout.write(`${text}\n`, settle);
  });
  if (!error) return;
  throw Object.assign(new UsageError(`Standard output cannot be written: ${error.message}.`), {
    code: error.code,
  });
}

/** The same, and warns of what npm writes there before. */
export function printForPrograms(text: string): Promise<void> {
  const { npm_lifecycle_event: script, npm_config_loglevel: level } = process.env;
  if (script === 'keys' && level !== 'silent' && !process.stdout.isTTY) {
    console.error('npm writes into this output too: with npm run --silent keys it does not.');
  }
  return print(text);
}

export function printNewKey(
  { key, record }: IssuedKey,
  { json, quiet, replaces }: NewKeyFormat,
): Promise<void> {
  if (quiet) return printForPrograms(key);
  const { keyId, owner, createdAt, expiresAt = null } = record;
  const shown = { key, keyId, owner, createdAt, expiresAt };
  if (json) return printForPrograms(JSON.stringify({ ...shown, ...(replaces && { replaces }) }));
  const lines = Object.entries({ ...shown, owner: plain(owner) }).map(
    ([name, value]) => `${name.padEnd(10)} ${value ?? 'never'}`,
  );
  if (replaces)
    lines.push(`${'replaces'.padEnd(10)} ${replaces.keyId}, which works until ${replaces.expiresAt}`);
  return print([...lines, '', 'The key is shown this once; only its hash is kept.'].join('\n'));
}

export async function printList(records: ApiKeyRecord[], { json }: Format): Promise<void> {
  const printed = json
    ? printForPrograms(`[${records.map((record) => toJson(record)).join(',\n')}]`)
    : print(records.length > 0 ? drawTable(records) : 'No keys.');
  await printed.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error; // `list | head` has read enough
  });
}

/** Warns of rotations that were cut off, among all keys of a stage: of their new keys nobody may know. */
export function warnOfBegunRotations(records: ApiKeyRecord[]): void {
  const now = new Date();
  const working = new Set(
    records.filter((record) => stateOf(record, now) === 'active').map(({ keyId }) => keyId),
  );
  for (const { keyId, successor, rotatedBy } of records) {
    if (!successor || rotatedBy) continue;
    if (working.has(keyId)) {
      const another = successor.isAbandoned ? '' : `, or with --complete if somebody has ${successor.keyId}`;
      console.error(
        `The rotation of ${keyId} is not complete: rotate it again, with the same options${another}.`,
      );
    } else if (working.has(successor.keyId)) {
      console.error(
        `The rotation of ${keyId} was never complete: revoke ${successor.keyId} if nobody has it.`,
      );
    }
  }
}

/** Draws the list in pieces, as the time that the library takes grows with the square of the rows. */
function drawTable(records: ApiKeyRecord[]): string {
  const now = new Date();
  const rows = records.map((record) => {
    const { keyId, start, createdAt, expiresAt, rotatedBy, owner } = record;
    const state = `${stateOf(record, now)}${rotatedBy ? ' (rotated)' : ''}`;
    return [keyId, start, minute(createdAt), expiresAt ? minute(expiresAt) : 'never', state, plain(owner)];
  });
  const header = ['KEY ID', 'STARTS WITH', 'CREATED (UTC)', 'EXPIRES (UTC)', 'STATE', 'OWNER'];
  const pieces = Array.from({ length: Math.ceil((rows.length + 1) / ROWS_OF_A_PIECE) }, (_, index) => {
    const piece = new Table({
      style: { border: [], 'padding-left': 0, 'padding-right': 0 },
      chars: noBorders,
      colWidths,
    });
    piece.push(...[header, ...rows].slice(index * ROWS_OF_A_PIECE, (index + 1) * ROWS_OF_A_PIECE));
    return piece.toString();
  });
  return pieces.join('\n').replaceAll(/ +$/gm, '');
}

/** All that a record says, but for hashes. */
export function toJson(record: ApiKeyRecord): string {
  const { keyId, owner, start, createdAt, createdBy, expiresAt, successor } = record;
  const { revokedAt, revokedBy, rotatedBy } = record;
  return JSON.stringify({
    keyId,
    owner,
    start,
    state: stateOf(record, new Date()),
    createdAt,
    createdBy: createdBy ?? null,
    expiresAt: expiresAt ?? null,
    successor: successor?.keyId ?? null,
    rotatedBy: rotatedBy ?? null,
    revokedAt: revokedAt ?? null,
    revokedBy: revokedBy ?? null,
  });
}

/** Asks for a yes on standard input; the end of it is a no. */
export async function confirm(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const closed = once(prompt, 'close').then(() => undefined);
  // Ctrl-C and Ctrl-D let it fail.
  const answered = prompt.question(`${plain(question)} [y/N] `).catch(() => undefined);
  const answer = await Promise.race([answered, closed]);
  if (answer === undefined) console.error(); // ends the line of the question
  prompt.close();
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** `2026-11-21 17:43` */
function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ');
}

const ROWS_OF_A_PIECE = 200;

/** Of the longest that stand there; the owner, who comes last, may have any length. */
const colWidths = [
  'key_0123456789abcdef0123'.length,
  'pets_production_0000'.length,
  '2026-11-21 17:43'.length,
  '2026-11-21 17:43'.length,
  'expired (rotated)'.length,
];

const noBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};
