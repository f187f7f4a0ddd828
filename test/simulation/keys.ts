import { type Process, require, sendFirstRequest, START, type World } from './world.ts';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import * as keyStore from '../../infra/operate/key-store.ts';
import { generateApiKey, type ApiKeyRecord, hashOf, stateOf } from '../../shared/api-keys.ts';
import { connect, readItem } from '../../shared/storage/database.ts';
import { type Database, startDatabase } from './dynamodb.ts';
import type { Scope } from './schedules.ts';
import { authorize, environment, keyTables, sleep } from './service.ts';

const DAY_MILLISECONDS = 86_400_000;
const store: keyStore.KeyStore = { stage: 'staging', table: 'keys', database: connect() };
await sendFirstRequest(() => readItem('keys', { hash: '' }, { from: store.database }));

/** A command of an operator, and what the operator knows when the command ends. */
interface Command {
  kind: 'issue' | 'rotate' | 'revoke';
  keyId?: string;
  /** The new key that the command showed. */
  shown?: { key: string; record: ApiKeyRecord };
  /** Message of the error with which the command failed. */
  error?: string;
  isComplete: boolean;
}

/** The key that the operators rotate and revoke, and its record. */
const secret = generateApiKey('staging');
const key: ApiKeyRecord = {
  hash: hashOf(secret),
  keyId: 'key_019c000000000000000a',
  stage: 'staging',
  owner: 'Acme',
  start: secret.slice(0, 17),
  createdAt: '2026-02-01T00:00:00.000Z',
  createdBy: {
    time: '2026-02-01T00:00:00.000Z',
    caller: 'jane',
    action: 'issue',
    keyId: 'key_019c000000000000000a',
  },
};

function startKeys(world: World, expiresAt?: string): Database {
  const database = startDatabase(world, keyTables);
  database.store('keys', marshall({ ...key, ...(expiresAt && { expiresAt }) }));
  database.settle();
  return database;
}

/** Starts a command of an operator. The returned object shows the command's outcome when the world has run. */
function startCommand(world: World, operator: Process, kind: Command['kind'], keyId = key.keyId): Command {
  const command: Command = { kind, keyId, isComplete: false };
  const caller = operator.name;
  const acts = {
    issue: () =>
      keyStore.issueApiKey(store, { owner: 'Acme', caller }, async (shown) => void (command.shown = shown)),
    rotate: async () =>
      keyStore.rotateApiKey(
        store,
        await keyStore.findRotatableKey(store, keyId),
        { overlap: DAY_MILLISECONDS, caller },
        async (shown) => void (command.shown = shown),
      ),
    async revoke() {
      const found = await keyStore.findApiKey(store, keyId);
      if (found.revokedAt === undefined) await keyStore.revokeApiKey(store, found, caller);
    },
  };
  world.start(operator, `runs ${kind}`, async () => {
    try {
      await acts[kind]();
      command.isComplete = true;
    } catch (error) {
      if (error instanceof TypeError || error instanceof ReferenceError) throw error;
      command.error = (error as Error).message;
    }
  });
  return command;
}

/** Returns the records of all keys, as they are stored. */
function recordsOf(database: Database): ApiKeyRecord[] {
  return database.items('keys').map((item) => unmarshall(item) as ApiKeyRecord);
}

/**
 * Checks that a command succeeds if nothing fails. With two commands, one success is enough, because each can prevent
 * the other.
 */
function requireSuccess(world: World, commands: Command[]): void {
  const isUsual = world.report().decisions.every(({ choice }) => choice === 0);
  require(!isUsual || commands.some(({ isComplete }) => isComplete), 'A command succeeds if nothing fails.', {
    commands,
  });
}

function requirePromises(world: World, database: Database, commands: Command[]): void {
  requireSuccess(world, commands);
  const records = recordsOf(database);
  const now = new Date(world.now());
  const isActive = (record: ApiKeyRecord | undefined) =>
    record !== undefined && stateOf(record, now) === 'active';
  const find = (hash?: string) => records.find((record) => record.hash === hash);

  for (const { before, after } of database.changes) {
    if (before === undefined) continue;
    const lost = Object.keys(before).filter((name) => name !== 'expiresAt' && !(name in (after ?? {})));
    require(lost.length === 0, 'A record loses no revocation, rotation or other attribute.', { lost });
    const isRotatedNow = !('rotatedBy' in before) && 'rotatedBy' in (after ?? {});
    require(!(isRotatedNow && 'revokedAt' in before), 'A revoked key is not rotated.', { before });
  }

  for (const command of commands) {
    const { kind, keyId, shown, error, isComplete } = command;
    const record = find(shown?.record.hash);
    if (kind === 'revoke' && isComplete)
      require(records.some(
        (one) => one.keyId === keyId && one.revokedAt !== undefined,
      ), 'A revoked key stays revoked.', { keyId });
    const isRevokedLater = commands.some((one) => one.kind === 'revoke' && one.keyId === shown?.record.keyId);
    if (kind !== 'revoke' && isComplete && !isRevokedLater)
      require(isActive(record), 'A key that was issued works.', { record });
    if (error?.includes('was revoked. Do not use it.') && shown)
      require(!isActive(record), 'A key that the command revoked does not work.', { error, record });
    if (kind === 'rotate' && isComplete) {
      const old = records.find((one) => one.keyId === keyId)!;
      require(old.successor?.keyId === shown!.record.keyId, 'The old key names the valid successor.', {
        old,
      });
      require(old.expiresAt !== undefined, 'The old key expires.', { old });
    }
  }

  const old = find(key.hash)!;
  if (old.rotatedBy) {
    const successor = records.find(({ keyId }) => keyId === old.successor?.keyId);
    const isRevoked = commands.some(({ kind, keyId }) => kind === 'revoke' && keyId === successor?.keyId);
    require(isRevoked || isActive(successor), 'The successor in the record of the old key works.', {
      old,
      successor,
    });
  } else
    require(old.expiresAt === undefined, 'An interrupted rotation does not change the old key.', { old });

  // A command that was killed, or could not report the outcome, can leave one additional key.
  const unknown = commands.filter(
    ({ isComplete, error }) => !isComplete && !error?.includes('was revoked'),
  ).length;
  const rightful = commands.filter(
    (command) =>
      command.kind !== 'revoke' && command.isComplete && isActive(find(command.shown!.record.hash)),
  ).length;
  const extra = records.filter((record) => record.hash !== key.hash && isActive(record)).length - rightful;
  require(extra <= unknown, 'Each command leaves at most one key that nobody expects.', { extra, unknown });
}

function commandScope(kinds: Command['kind'][]): Scope {
  return {
    async run(world) {
      const database = startKeys(world);
      const commands = kinds.map((kind, number) =>
        startCommand(world, world.addProcess(`operator ${number + 1}`, { isKillable: true }), kind),
      );
      await world.run();
      requirePromises(world, database, commands);
    },
  };
}

/** A client uses a key while it is rotated, and then the new key. */
const rotationWithClient: Scope = {
  async run(world) {
    startKeys(world);
    const command = startCommand(world, world.addProcess('operator', { isKillable: true }), 'rotate');
    world.start(world.addProcess('authorizer', { environment }), 'checks the keys', async () => {
      for (let check = 0; check < 3; check += 1) {
        const used = command.shown?.key ?? secret;
        const checks = await Promise.allSettled([used, secret].map(authorize));
        // Checks that fail are left out, because the client then gets a 503 and retries.
        const found = checks.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
        for (const context of found) {
          require(context !== undefined, 'The old and the new key work during a rotation.', { found });
          const isSameClient = context!['firstKeyId'] === key.keyId;
          require(isSameClient, 'The new key shares idempotency keys with the old key.', { context });
        }
      }
    });
    await world.run();
    requireSuccess(world, [command]);
  },
};

/** A second operator rotates or revokes a new key as soon as the first operator has been shown the key. */
function changedAtOnce(kind: 'rotate' | 'revoke'): Scope {
  return {
    async run(world) {
      const database = startKeys(world);
      const issued = startCommand(world, world.addProcess('first operator', { isKillable: true }), 'issue');
      const second = world.addProcess('second operator', { isKillable: true });
      const commands = [issued];
      world.start(second, 'waits for the key', async () => {
        for (let check = 0; check < 30 && !issued.shown; check += 1) await sleep(1_000);
        if (issued.shown) commands.push(startCommand(world, second, kind, issued.shown.record.keyId));
      });
      await world.run();
      requirePromises(world, database, commands);
    },
  };
}

/** Time for which an operator waits after an interrupted rotation, as docs/keys.md says. */
const WAIT_MILLISECONDS = 300_000;

/** A rotation is interrupted, and a second operator follows "Interrupted rotations" in docs/keys.md. */
const interruptedRotation: Scope = {
  async run(world) {
    const database = startKeys(world);
    const first = world.addProcess('first operator', { isKillable: true });
    const second = world.addProcess('second operator');
    const rotation = startCommand(world, first, 'rotate');
    let isHandedOver = false;
    let repeated: Command | undefined;
    const settle = async () => {
      const listed = await Array.fromAsync(keyStore.listApiKeys(store));
      const old = listed.find(({ keyId }) => keyId === key.keyId)!;
      if (old.rotatedBy || isHandedOver) return;
      for (const record of listed.filter(({ replaces }) => replaces === key.keyId))
        await keyStore.revokeApiKey(store, record, second.name);
      repeated = startCommand(world, second, 'rotate');
    };
    world.start(second, 'completes the rotation', async () => {
      while (first.isAlive && !rotation.isComplete && !rotation.error) await sleep(1_000);
      if (rotation.isComplete || rotation.error?.includes('was revoked')) return;
      isHandedOver =
        rotation.shown !== undefined && world.choose(['nobody has the key', 'a client has the key']) === 1;
      await sleep(WAIT_MILLISECONDS);
      // The operator repeats these steps after an error.
      for (;;) {
        try {
          return await settle();
        } catch {
          await sleep(60_000);
        }
      }
    });
    await world.run();
    const commands = [rotation, ...(repeated ? [repeated] : [])];
    const records = recordsOf(database);
    const old = records.find(({ hash }) => hash === key.hash)!;
    if (old.rotatedBy) {
      const successor = records.find(({ keyId }) => keyId === old.successor?.keyId)!;
      require(stateOf(successor, new Date(world.now())) ===
        'active', 'The successor in the record of the old key works.', { old, successor });
    }
    for (const { shown } of commands.filter(({ isComplete }) => isComplete || isHandedOver)) {
      const record = records.find(({ hash }) => hash === shown!.record.hash);
      require(record?.revokedAt === undefined, 'A key that a client has is not revoked.', { record });
    }
  },
};

/** An authorizer checks a key that is about to expire. */
const expiry: Scope = {
  async run(world) {
    const expiresAt = START + 1_000;
    startKeys(world, new Date(expiresAt).toISOString());
    world.start(world.addProcess('authorizer', { environment }), 'checks a key', async () => {
      await sleep(990);
      const context = await authorize(secret).catch(() => undefined);
      const time = world.now() - expiresAt;
      require(context === undefined || time < 0, 'An expired key gets no access.', { time });
    });
    await world.run();
  },
};

export const keyScopes: Record<string, Scope> = {
  'a key is issued': commandScope(['issue']),
  'a key is issued and rotated at once': changedAtOnce('rotate'),
  'a key is issued and revoked at once': changedAtOnce('revoke'),
  'a key is rotated': commandScope(['rotate']),
  'a client uses a key while it is rotated': rotationWithClient,
  'two operators rotate a key': commandScope(['rotate', 'rotate']),
  'one operator rotates a key and another revokes it': commandScope(['rotate', 'revoke']),
  'two operators revoke a key': commandScope(['revoke', 'revoke']),
  'a second operator completes an interrupted rotation': interruptedRotation,
  'a key expires while it is checked': expiry,
};
