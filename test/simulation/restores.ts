import { require, sendFirstRequest, START, Violation, type World } from './world.ts';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describeTable } from '../../docs/runbook/scan-and-write.ts';
import { createEvent } from '../support/api-gateway-event.ts';
import { type Database, startDatabase, type TableSettings } from './dynamodb.ts';
import { key as storedKey, startCommand } from './keys.ts';
import type { Scope } from './schedules.ts';
import { callFunction, createFunctions, environment, keyTables, sleep, tables } from './service.ts';

await sendFirstRequest(() => describeTable('books'));

/**
 * Number of unfinished runs of a script after which the simulation reports a violation. Schedules interrupt fewer runs.
 */
const MAX_RUNS = 100;

// Books are not a collection of the contract, so the scripts know only the index `newest`, which every collection has.
const newest = { newest: tables['books']!.indexes!['newest']! };
const restoredTables: Record<string, TableSettings> = {
  ...tables,
  books: { key: 'id', indexes: newest },
  restored: { key: 'id' },
};

/** Number of started scripts. Each import needs a new URL, because a module runs only once. */
let imports = 0;

/** Repeats a script until it has finished, as the runbook says. */
async function runUntilFinished(
  world: World,
  name: string,
  variables: Record<string, string>,
): Promise<void> {
  for (let run = 0; run < MAX_RUNS; run += 1) {
    const script = world.addProcess(`${name} ${run + 1}`, {
      environment: { ...variables, PART: '1/256' }, // This part contains all items.
      isKillable: true,
    });
    imports += 1;
    world.startProgram(script, () => import(`../../docs/runbook/${name}.ts?import=${imports}`));
    while (script.isAlive && !script.output.includes('Finished.')) await sleep(1_000);
    if (script.output.includes('Finished.')) return;
  }
  throw new Violation(`The script does not finish: ${world.processes.at(-1)!.output}`);
}

function storedBook(id: bigint) {
  return { id, title: `book ${id}`, shelf: 1n, creation: `creation of ${id}`, list: 'all' };
}

/** Runs a world in a new folder, because the scripts store their progress in the working directory. */
async function runInNewFolder(world: World): Promise<void> {
  const before = process.cwd();
  const folder = mkdtempSync(join(tmpdir(), 'simulation-'));
  process.chdir(folder);
  try {
    await world.run();
  } finally {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  }
}

const FIRST_ID = BigInt(START - 3_600_000 - Date.parse('2025-01-01T00:00:00Z')) * 4_096n;

/** A book is lost and copied from a restored table, while its client retries the create with a version that knows a new field. */
const items: Scope = {
  async run(world) {
    const database = startDatabase(world, restoredTables, { canRejectWrites: true });
    const others = [1n, 2n].map((number) => storedBook(FIRST_ID + number));
    for (const book of others) database.store('restored', marshall(book));
    // The second book was not lost, and has changed since the restore point.
    const kept = { ...others[1]!, title: 'a newer title' };
    database.store('books', marshall(kept));

    const client = world.addProcess('client');
    let lost: Record<string, unknown> | undefined;
    const create = (version: keyof typeof createFunctions) => {
      const event = createEvent(
        { title: 'a book', shelf: 1, tag: 'a tag' },
        { headers: { 'Idempotency-Key': 'a-key' }, requestContext: { authorizer: { firstKeyId: 'key_1' } } },
      );
      const instance = world.addProcess(`instance of the ${version} version`, {
        environment,
        isKillable: true,
      });
      return callFunction(world, client, { instance, handler: createFunctions[version], event });
    };
    world.start(client, 'creates a book', async () => {
      const response = await create('old');
      const item = database.items('books').find(({ title }) => title!.S === 'a book');
      if (response?.status !== 201 || !item) return;
      lost = unmarshall(item, { wrapNumbers: BigInt });
      database.store('restored', item);
      database.damage('books', item);
      world.start(world.addProcess('operator'), 'restores books', () =>
        runUntilFinished(world, 'copy-missing-items', { SOURCE: 'restored', TARGET: 'books' }),
      );
      await create('new');
    });
    await runInNewFolder(world);
    if (lost) requireRestored(database, [others[0]!, kept, lost]);
  },
};

function requireRestored(database: Database, expected: Record<string, unknown>[]): void {
  const overwritten = database.changes.filter(
    (change) => change.table === 'books' && change.before && change.after,
  );
  require(overwritten.length === 0, 'A restore overwrites nothing.', { overwritten });
  const books = database.items('books').map((item) => unmarshall(item, { wrapNumbers: BigInt }));
  for (const book of expected) {
    const found = books.find(({ id }) => id === book['id']);
    require(isDeepStrictEqual({ ...found, ...book }, found), 'A restore copies what is lost.', {
      book,
      found,
    });
  }
}

/** The record of a key is lost and copied from a restored table, while an operator revokes the key. */
const keys: Scope = {
  async run(world) {
    const database = startDatabase(world, { ...keyTables, 'restored-keys': { key: 'hash' } });
    database.store('restored-keys', marshall(storedKey));
    world.start(world.addProcess('first operator'), 'restores keys', () =>
      runUntilFinished(world, 'copy-missing-items', {
        SOURCE: 'restored-keys',
        TARGET: 'keys',
        REVOKED: 'none',
      }),
    );
    const second = world.addProcess('second operator', { isKillable: true });
    const revocation = startCommand(world, second, 'revoke');
    await runInNewFolder(world);
    const record = database.items('keys').find(({ hash }) => hash!.S === storedKey.hash);
    require(record !== undefined, 'A restore copies lost keys.', {});
    require(!revocation.isComplete ||
      record!['revokedAt'] !== undefined, 'A key that was revoked stays revoked.', { record });
  },
};

export const restoreScopes: Record<string, Scope> = {
  'a lost book is copied while its client retries': items,
  'a lost key is copied while it is revoked': keys,
};
