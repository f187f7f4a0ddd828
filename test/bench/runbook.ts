import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { durationText, format } from '../../docs/runbook/progress.ts';
import { ITEM_BYTES } from '../../infra/documents/cost/usage.ts';
import { markdownTable } from '../../infra/documents/markdown.ts';
import { awsLimits } from '../../infra/capacity.ts';
import { stages } from '../../infra/stages.ts';
import { collections } from '../../shared/contract/operations.ts';
import { listIndexes } from '../../shared/list-indexes.ts';
import { folderUntilExit } from '../support/assembly.ts';
import { commandEnvironment } from '../support/run-command.ts';
import { machine, runBenchmark } from './benchmark.ts';
import { itemCount } from './capacity/limits.ts';
import { measureInRounds, type Spread, spreadOf } from './measurements.ts';
import { itemAt, startStubDatabase, type StubDatabase } from './stub-database.ts';

// `npm run bench:runbook` measures the scripts in docs/runbook for docs/backups.md.

const ROUNDS = 3;
/** Number of items in a segment. Every segment of the stub's tables contains the same items. */
const ITEMS_PER_SEGMENT = 1_000;
/** Parts of a table, with the number of their segments. */
const SEGMENTS = { '1/256': 1, '1/16': 16, '1/1': 256 };
/** Module that prints the CPU time of its process to standard error. */
const PRINT_CPU_MICROSECONDS = `data:text/javascript,process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  process.stderr.write(String(user + system));
});`;
const MANY_PROCESSES = 16;
/** Numbers of items in the columns of the tables. */
const SIZES = [1e6, 1e9];

const [collection] = collections;
/** Names of the keys that `add-index-keys.ts` adds in the benchmark. */
const keys = listIndexes(collection)
  .filter(({ filters }) => filters.length > 0)
  .map(({ partitionKey }) => partitionKey);

interface Case {
  script: string;
  /** Whether the script writes all items, or none. */
  isWritten: boolean;
  /** Names of the stub's tables. */
  tables: Record<string, string>;
  /** Part of the tables that the script processes within a few seconds. */
  part: keyof typeof SEGMENTS;
}

const copy = 'copy-missing-items.ts';
const addKeys = 'add-index-keys.ts';
const cases: Case[] = [
  { script: copy, isWritten: false, tables: { SOURCE: 'source', TARGET: 'complete' }, part: '1/1' },
  { script: addKeys, isWritten: false, tables: { TABLE: 'with-keys' }, part: '1/1' },
  { script: copy, isWritten: true, tables: { SOURCE: 'source', TARGET: 'empty' }, part: '1/16' },
  { script: addKeys, isWritten: keys.length > 0, tables: { TABLE: 'without-keys' }, part: '1/16' },
];

interface Results {
  runDetails: string;
  rows: { script: string; isWritten: boolean; itemsPerSecond: Spread }[];
}

await runBenchmark<Results>({
  script: 'bench:runbook',
  purpose: 'the speed of the scripts in docs/runbook',
  results: 'runbook.json',
  document: 'docs/backups.md',
  measure: measureAll,
  parts: (results) => ({ speeds: speedTables(results) }),
});

async function measureAll(isQuick: boolean): Promise<Results> {
  const folder = folderUntilExit();
  const database = await startStubDatabase(folder, tableActions());
  const speedOf = (one: Case) => measureSpeed(one, folder, database);
  const measured = await measureInRounds('scripts', cases, isQuick ? 1 : ROUNDS, speedOf);
  await database.close();
  return {
    runDetails: `${new Date().toISOString().slice(0, 10)} on ${machine}`,
    rows: cases.map(({ script, isWritten }, index) => ({
      script,
      isWritten,
      itemsPerSecond: spreadOf(measured[index]!),
    })),
  };
}

/** Returns the operations of the stub. The stub responds to every scan of a segment with one page. */
function tableActions() {
  const items = Array.from({ length: ITEMS_PER_SEGMENT }, (_, index) => itemAt(index));
  const withoutKeys = items.map((item) =>
    Object.fromEntries(Object.entries(item).filter(([name]) => !keys.includes(name))),
  );
  const KeySchema = [{ AttributeName: 'id', KeyType: 'HASH' }];
  return {
    DescribeTable: ({ TableName }: any) => ({ Table: { TableName, TableId: TableName, KeySchema } }),
    Scan: ({ TableName }: any) => ({ Items: TableName === 'without-keys' ? withoutKeys : items }),
    BatchGetItem({ RequestItems: { complete } }: any) {
      return { Responses: complete ? { complete: complete.Keys } : {}, UnprocessedKeys: {} };
    },
  };
}

/**
 * Returns the items per second on one core. The figure is computed from CPU time, because other load on the machine
 * hardly affects it. A process waits little, so its CPU time is nearly its duration. The time for a single segment is
 * subtracted, because most of it is the startup.
 */
async function measureSpeed(one: Case, folder: string, database: StubDatabase): Promise<number> {
  const startup = await cpuSecondsFor(one, '1/256', folder, database);
  const seconds = await cpuSecondsFor(one, one.part, folder, database);
  return ((SEGMENTS[one.part] - 1) * ITEMS_PER_SEGMENT) / (seconds - startup);
}

async function cpuSecondsFor(
  { script, isWritten, tables }: Case,
  PART: keyof typeof SEGMENTS,
  folder: string,
  database: StubDatabase,
): Promise<number> {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', PRINT_CPU_MICROSECONDS, resolve('docs/runbook', script)],
    {
      // The script stores its progress in the working directory, so each run gets a new one.
      cwd: mkdtempSync(join(folder, 'progress-')),
      env: commandEnvironment({
        ...database.environment,
        ...tables,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'benchmark',
        AWS_SECRET_ACCESS_KEY: 'benchmark',
        COLLECTION: collection.plural,
        PART,
      }),
    },
  );
  const items = format(SEGMENTS[PART] * ITEMS_PER_SEGMENT);
  const last = new RegExp(`: ${items} items read, ${isWritten ? items : 0} \\w+\\. Finished\\.\n$`);
  assert.match(stdout, last);
  return Number(stderr) / 1e6;
}

/** Returns the tables for `docs/backups.md`. */
function speedTables({ runDetails, rows }: Results): string {
  const scripts = (isWritten: boolean) => rows.filter((each) => each.isWritten === isWritten);
  const all = Object.entries(stages);
  const readUnits = Math.ceil(ITEM_BYTES / 4_096);
  const writeUnits = Math.ceil(ITEM_BYTES / 1_024);
  return [
    `The tables assume that a ${collection.singular} has ${ITEM_BYTES} bytes. CPU time was measured on\n${runDetails}.\n`,
    speedTable('Read', [
      ...scripts(false).map(({ script, itemsPerSecond }) =>
        row(`\`${script}\`, one process`, itemsPerSecond.median),
      ),
      ...all.map(([stage, { maxReadUnitsPerSecond }]) =>
        row(`\`maxReadUnitsPerSecond\` in ${stage}, lookups`, maxReadUnitsPerSecond / readUnits),
      ),
      ...all.map(([stage, { maxReadUnitsPerSecond }]) =>
        row(
          `\`maxReadUnitsPerSecond\` in ${stage}, \`${addKeys}\``,
          (maxReadUnitsPerSecond * 4_096) / ITEM_BYTES,
        ),
      ),
      row('warm throughput of a new table, lookups', awsLimits.warmReads / readUnits),
      row("DynamoDB's quota of a table, lookups", awsLimits.tableReads / readUnits),
    ]),
    speedTable('Write', [
      ...scripts(true).flatMap(({ script, itemsPerSecond }) => [
        row(`\`${script}\`, one process`, itemsPerSecond.median),
        row(`\`${script}\`, ${MANY_PROCESSES} processes`, itemsPerSecond.median * MANY_PROCESSES),
      ]),
      row('a list partition of an index', awsLimits.keyWrites / writeUnits),
      ...all.map(([stage, { maxWriteUnitsPerSecond }]) =>
        row(`\`maxWriteUnitsPerSecond\` in ${stage}`, maxWriteUnitsPerSecond / writeUnits),
      ),
      row('warm throughput of a new table', awsLimits.warmWrites / writeUnits),
      row("DynamoDB's quota of a table", awsLimits.tableWrites / writeUnits),
    ]),
  ].join('\n');
}

function speedTable(title: string, rows: string[][]): string {
  return markdownTable([title, 'Items per second', ...SIZES.map((items) => itemCount(items))], rows);
}

function row(limit: string, itemsPerSecond: number): string[] {
  const rounded = itemsPerSecond.toLocaleString('en', { maximumSignificantDigits: 2 });
  return [limit, rounded, ...SIZES.map((items) => durationText(items / itemsPerSecond))];
}
