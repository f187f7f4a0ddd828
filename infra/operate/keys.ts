import { createInterface } from 'node:readline/promises';
import { type ApiKeyRecord, type IssuedKey, keyPattern, stateOf } from '../../shared/api-keys.ts';
import { connect } from '../../shared/storage/database.ts';
import {
  onInterrupt,
  type OptionValues,
  plain,
  relativePaths,
  runWithOptions,
  UsageError,
} from '../command.ts';
import { databaseSettings, findLocalService, localOperator } from '../local/local-service.ts';
import { httpsAgent } from '../proxy.ts';
import { stages } from '../stages.ts';
import * as keyStore from './key-store.ts';

const USAGE = `npm run keys -- ACTION --stage STAGE [OPTION ...]

Manages the API keys of a stage: local, or a deployed stage such as staging, which requires AWS credentials and AWS_REGION.

  issue --owner NAME [--expires-in TIME] [--read-only]    issues a key and shows it once
  list                                                    lists all keys, newest first
  rotate KEY_ID [--overlap TIME] [--expires-in TIME]      issues a successor, and lets the old key expire
  revoke KEY_ID [--yes]                                   revokes a key permanently

  --owner       client that uses the key: 1 to 100 visible characters, no API key
  --expires-in  lifetime of the new key, such as 90d, 12h or 30m (default: that of the old key, or no end)
  --read-only   reject the key in operations that write
  --overlap     time during which both keys work (default: 24h)
  --yes         do not ask for confirmation
  --json        print JSON
  --data        data folder of the local service, or memory (default: the running service)

In scripts, use npm run --silent, so that npm prints no output of its own. For details, see docs/keys.md.
${relativePaths}`;

const options = {
  stage: { type: 'string' },
  owner: { type: 'string' },
  'expires-in': { type: 'string' },
  'read-only': { type: 'boolean' },
  overlap: { type: 'string' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
  data: { type: 'string' },
} as const;

type Values = OptionValues<typeof options>;
type Stage = Awaited<ReturnType<typeof findStage>>;

interface Action {
  /** Options of the action besides --stage, --data and --json. */
  options: (keyof Values)[];
  run: (stage: Stage, values: Values, keyId: string) => Promise<void>;
}

const actions: Record<string, Action> = {
  issue: {
    options: ['owner', 'expires-in', 'read-only'],
    async run({ store, findCaller }, values) {
      const owner = ownerOption(values.owner);
      const lifetime = durationOption('--expires-in', values['expires-in']);
      const newKey = { owner, lifetime, readOnly: values['read-only'], caller: await findCaller() };
      finishDespiteInterrupt();
      await keyStore.issueApiKey(store, newKey, (issued) => printNewKey(issued, values.json));
    },
  },

  list: {
    options: [],
    async run({ store }, { json }) {
      const records = await Array.fromAsync(keyStore.listApiKeys(store));
      const text = json ? `[${records.map(toJson).join(',\n')}]` : tableOf(records);
      await print(text).catch((error: UsageError) => {
        // A reader such as `head` can end early.
        if ((error.cause as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
      });
    },
  },

  rotate: {
    options: ['overlap', 'expires-in'],
    async run({ store, findCaller }, values, keyId) {
      const overlap = durationOption('--overlap', values.overlap ?? '24h')!;
      const lifetime = durationOption('--expires-in', values['expires-in']);
      const predecessor = await keyStore.findRotatableKey(store, keyId);
      const caller = await findCaller();
      finishDespiteInterrupt();
      await keyStore.rotateApiKey(store, predecessor, { overlap, lifetime, caller }, (successor, expiresAt) =>
        printNewKey(successor, values.json, { keyId, expiresAt }),
      );
    },
  },

  revoke: {
    options: ['yes'],
    async run({ store, findCaller }, { yes, json }, keyId) {
      const found = await keyStore.findApiKey(store, keyId);
      const isRevoked = found.revokedAt !== undefined;
      if (!isRevoked && !yes && !(await confirm(`Revoke ${keyId} of ${found.owner} (${found.start}…)?`)))
        throw new UsageError('No key was revoked. To revoke a key without confirmation, add --yes.');
      const revoked = isRevoked ? found : await keyStore.revokeApiKey(store, found, await findCaller());
      const { revokedAt, revokedBy, owner, successor } = revoked;
      if (successor)
        console.error(plain(`If the successor ${successor.keyId} leaked too, revoke the successor.`));
      // An ephemeral stage can be based on any stage, so the message contains the longest cache time of all stages.
      const seconds = Math.max(...Object.values(stages).map((stage) => stage.authorizerCacheSeconds));
      await print(
        json
          ? toJson(revoked)
          : `${plain(`The key ${keyId} of ${owner} was revoked at ${revokedAt} by ${revokedBy?.caller}.`)}\n` +
              `API Gateway may accept the key for up to ${seconds} more seconds, because it caches authorizer decisions.`,
      );
    },
  },
};

/** Returns the stage's key store, and a function that returns the operator's ARN. */
async function findStage({ stage, data }: Values) {
  if (!stage)
    throw new UsageError(
      `--stage is missing. Use local for the running npm start, or a deployed stage, such as ${Object.keys(stages)[0]}.`,
    );
  if (stage === 'local') {
    const { stage: name, apiKeysTable: table, ...access } = await findLocalService(data);
    const store = { stage: name, table, database: connect(databaseSettings(access)) };
    return { store, findCaller: async () => localOperator };
  }
  // This import is slow, and only commands for deployed stages need the imported functions.
  const { findCaller, findDeployedStage } = await import('./deployed-stage.ts');
  const { apiKeysTable: table } = await findDeployedStage(stage);
  return { store: { stage, table, database: connect({}, httpsAgent) }, findCaller };
}

/**
 * Checks the words of the command, and runs the action.
 *
 * @throws UsageError whose message quotes only names of actions and options, because any other word can be an API key
 */
async function manageKeys(values: Values, [name = '', keyId = '', ...others]: string[]): Promise<void> {
  const action = Object.hasOwn(actions, name) ? actions[name]! : undefined;
  if (!action) throw new UsageError(`The action must be ${Object.keys(actions).join(', ')}.`);
  const needsId = ['rotate', 'revoke'].includes(name);
  if (others.length > 0 || (needsId ? !keyStore.isKeyId(keyId) : keyId !== ''))
    throw new UsageError(
      needsId
        ? `${name} needs one KEY_ID, which consists of key_ and hexadecimal digits.`
        : `${name} has no arguments but options.`,
    );
  for (const option of Object.keys(values) as (keyof Values)[])
    if (![...action.options, 'stage', 'data', 'json'].includes(option))
      throw new UsageError(`${name} has no option --${option}. To see all options, append --help.`);
  await action.run(await findStage(values), values, keyId);
}

/** @throws UsageError if the name is missing, has invisible characters, or contains an API key, which can be a mistake */
function ownerOption(owner = ''): string {
  const name = owner.trim();
  const isVisible = /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(name);
  // A name that starts with a dash, such as `--json`, is probably the next option after an `--owner` without a name.
  if (isVisible && !name.startsWith('-') && !new RegExp(keyPattern()).test(name)) return name;
  throw new UsageError('--owner must be the name of a client: 1 to 100 visible characters, and no API key.');
}

const UNIT_MILLISECONDS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** Returns the milliseconds in a duration such as `90d`. @throws UsageError if it is no duration */
function durationOption(name: string, text?: string): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^([1-9]\d{0,4})([dhm])$/.exec(text) ?? [];
  if (unit) return Number(count) * UNIT_MILLISECONDS[unit]!;
  throw new UsageError(`${name} must be a number of days, hours or minutes, such as 90d, 12h or 30m.`);
}

/** Ignores signals such as Ctrl-C, because an interrupted command could leave a key that was never shown. */
function finishDespiteInterrupt(): void {
  onInterrupt(() => console.error('Finishing this step before exiting …'));
}

/** Prints `question` and returns whether the next line of standard input is `y` or `yes`. */
async function confirm(question: string): Promise<boolean> {
  process.stderr.write(`${plain(question)} [y/N] `);
  for await (const answer of createInterface({ input: process.stdin }))
    return /^y(es)?$/i.test(answer.trim());
  console.error(); // ends the line of the question
  return false;
}

/**
 * Prints `text` and a line break.
 *
 * @throws UsageError if writing to standard output fails. Its `cause` is the stream's error.
 */
async function print(text: string): Promise<void> {
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((settle) => {
    process.stdout.once('error', settle);
    process.stdout.write(`${text}\n`, settle);
  });
  if (error) throw new UsageError(`Writing to standard output failed: ${error.message}.`, { cause: error });
}

/** Prints a new key, which cannot be shown again. @param replaces the old key and its expiry after a rotation */
function printNewKey(
  { key, record }: IssuedKey,
  json = false,
  replaces?: { keyId: string; expiresAt: string },
): Promise<void> {
  const { keyId, owner, readOnly = false, createdAt, expiresAt } = record;
  if (json) return print(printable({ key, keyId, owner, readOnly, createdAt, expiresAt, replaces }));
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

/** Returns what a key allows, for people. */
const accessOf = ({ readOnly }: ApiKeyRecord) => (readOnly ? 'read' : 'read, write');

/** Returns an ISO 8601 time in the format `2026-11-21 17:43`. */
const minute = (time: string) => time.slice(0, 16).replace('T', ' ');

const HEADINGS = [
  'KEY ID',
  'STARTS WITH',
  'CREATED (UTC)',
  'EXPIRES (UTC)',
  'STATE',
  'ACCESS',
  'REPLACES',
  'OWNER',
];

function tableOf(records: ApiKeyRecord[]): string {
  if (records.length === 0) return 'No keys found.';
  // Anyone who can write to the table can store control characters, which could change what a terminal shows.
  const rows = records.map((record) =>
    [
      record.keyId,
      record.start,
      minute(record.createdAt),
      minute(record.expiresAt ?? 'never'),
      `${stateOf(record, new Date())}${record.rotatedBy ? ' (rotated)' : ''}`,
      accessOf(record),
      record.replaces ?? '-',
      record.owner, // last, because characters of a name can have different widths
    ].map((cell: unknown) => plain(String(cell))),
  );
  rows.unshift(HEADINGS);
  // A stage can have more keys than a function call can have arguments, so the rows are not arguments of Math.max.
  const widths = HEADINGS.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]!.length), 0),
  );
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '));
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Returns a key's record as JSON, without the hash of the key. */
function toJson(record: ApiKeyRecord): string {
  const { keyId, owner, start, readOnly = false, createdAt, createdBy, expiresAt, replaces } = record;
  const { rotatedBy, revokedAt, revokedBy } = record;
  const issued = { keyId, owner, start, readOnly, state: stateOf(record, new Date()), createdAt, createdBy };
  const successor = record.successor?.keyId;
  return printable({ ...issued, expiresAt, replaces, successor, rotatedBy, revokedAt, revokedBy });
}

/**
 * Returns JSON in which absent members are null, and nonprinting characters are escaped, such as U+009B, which starts a
 * command to some terminals.
 */
function printable(value: object): string {
  const json = JSON.stringify(value, (_name, member: unknown) => member ?? null);
  return json.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

await runWithOptions(USAGE, options, manageKeys, { allowPositionals: true });
