import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { registerHooks } from 'node:module';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { integerOption, projectRoot, runWithOptions } from '../../infra/command.ts';

const USAGE = `npx node test/simulation/defects.ts [--defect N]

Checks that the simulation finds each of a list of defects. For each defect, a new process replaces a text in the code that
it loads, and runs the simulation. The command fails if a defect is not found. It takes about two minutes.

  --defect  number of the only defect to check. The command also prints the schedule that shows the defect.`;

interface Defect {
  /** What goes wrong for a client or an operator. */
  what: string;
  /** Start of the names of the scopes that find the defect. */
  scope: string;
  file: string;
  replace: string;
  with: string;
}

const collection = 'shared/storage/collection.ts';
const idempotency = 'shared/storage/idempotency.ts';
const database = 'shared/storage/database.ts';
const lists = 'shared/storage/lists.ts';
const partitions = 'shared/list-partitions.ts';
const apiKeys = 'shared/storage/api-keys.ts';
const lifecycle = 'infra/operate/keys/lifecycle.ts';
const copy = 'docs/runbook/copy-missing-items.ts';
const scan = 'docs/runbook/scan-and-write.ts';

const defects: Defect[] = [
  {
    what: 'A create overwrites the book that has its id.',
    scope: 'creates that',
    file: collection,
    replace: ", ConditionExpression: 'attribute_not_exists(id)' }",
    with: ' }',
  },
  {
    what: 'A create returns another book that has its id.',
    scope: 'creates that',
    file: collection,
    replace: 'stored.creation === creation',
    with: 'stored.creation !== undefined',
  },
  {
    what: 'A create without a key is repeated if the response to its write is lost.',
    scope: 'a create without',
    file: collection,
    replace: 'stored.creation === creation',
    with: 'token !== undefined && stored.creation === creation',
  },
  {
    what: 'A taken id is never replaced in the idempotency record.',
    scope: 'creates that',
    file: collection,
    replace: 'taken = id;',
    with: '',
  },
  {
    what: 'Each retry claims a new id.',
    scope: 'a create with a key',
    file: idempotency,
    replace: "'attribute_not_exists(#id) OR expiresAt < :now OR #id = :taken'",
    with: "'attribute_not_exists(#id) OR expiresAt < :now OR #id > :taken'",
  },
  {
    what: 'A key never expires.',
    scope: 'a key that has expired',
    file: idempotency,
    replace: 'OR expiresAt < :now OR',
    with: 'OR (expiresAt < :now AND expiresAt > :now) OR',
  },
  {
    what: 'A retry uses its own id instead of the claimed id.',
    scope: 'a create with a key',
    file: idempotency,
    replace: '? earlier[attribute] :',
    with: '? proposed :',
  },
  {
    what: 'A key can be used for two books.',
    scope: 'two clients with the same key and different',
    file: idempotency,
    replace: 'return isSameItem ? earlier[attribute] : undefined;',
    with: 'return earlier[attribute];',
  },
  {
    what: 'A write whose condition fails counts as a success.',
    scope: 'two clients',
    file: database,
    replace: "=== 'ConditionalCheckFailedException') return false",
    with: "=== 'ConditionalCheckFailedException') return true",
  },
  {
    what: 'A key expires after 24 hours on the clock of the instance.',
    scope: 'a retry just',
    file: idempotency,
    replace: ' + GRACE_SECONDS',
    with: '',
  },
  {
    what: 'A rotated API key has its own idempotency keys.',
    scope: 'a create with',
    file: 'shared/runtime/endpoint.ts',
    replace: "(event.requestContext.authorizer?.['firstKeyId'] as string | undefined) ?? keyId(event)",
    with: 'keyId(event)',
  },
  {
    what: 'A retry is compared with fields that the first version did not know.',
    scope: 'a create with',
    file: idempotency,
    replace: '(fields[name] ?? digest) === digest',
    with: 'fields[name] === digest',
  },
  {
    what: 'The authorizer takes the time before it reads a key.',
    scope: 'a key expires',
    file: apiKeys,
    replace: 'const record = await readItem<ApiKeyRecord>(table, { hash: hashOf(key) }, database);',
    with: 'const now = new Date(); const record = await readItem<ApiKeyRecord>(table, { hash: hashOf(key) }, database); if (record) return { record, state: stateOf(record, now) };',
  },
  {
    what: 'The partition of a book follows from the clock.',
    scope: 'lists over epochs',
    file: collection,
    replace: 'listPartitionOf(id, listEpochs())',
    with: '(id % BigInt(listEpochs().find(({ start }) => start <= BigInt(Date.now() - 1_735_689_600_000) * 4_096n)!.count)).toString()',
  },
  {
    what: 'The partition of a book follows from the newest epoch.',
    scope: 'lists over epochs',
    file: partitions,
    replace: 'BigInt(epochOf(id, epochs).count)',
    with: 'BigInt(epochs[0]!.count)',
  },
  {
    what: 'A first page omits the ids of fast clocks.',
    scope: 'a list just',
    file: lists,
    replace: 'partitionsBelow(cursor ?? ID_LIMIT, epochs)',
    with: 'partitionsBelow(cursor ?? firstIdAt(Date.now()), epochs)',
  },
  {
    what: 'A list ends with the first short page of a partition.',
    scope: 'pages of a list',
    file: lists,
    replace: 'const rest = LastEvaluatedKey',
    with: 'const rest = LastEvaluatedKey && !Items',
  },
  {
    what: 'A page repeats the last item of the page before.',
    scope: 'pages of a list',
    file: lists,
    replace: 'AND id < :cursor',
    with: 'AND id <= :cursor',
  },
  {
    what: 'The last pages are missing.',
    scope: 'pages of a list',
    file: lists,
    replace: 'query.limit + 1, query',
    with: 'query.limit, query',
  },
  {
    what: 'Partitions that only older epochs have are omitted.',
    scope: 'lists over epochs',
    file: partitions,
    replace: 'if (start >= end) continue;',
    with: 'if (start >= end || unread.length > 0) continue;',
  },
  {
    what: 'A late write of a new key undoes its revocation.',
    scope: 'a key is issued',
    file: lifecycle,
    replace: "'attribute_not_exists(revokedAt) AND attribute_not_exists(rotatedBy)'",
    with: "'attribute_not_exists(rotatedBy)'",
  },
  {
    what: 'A late write of a new key undoes its rotation.',
    scope: 'a key is issued and rotated',
    file: lifecycle,
    replace: "'attribute_not_exists(revokedAt) AND attribute_not_exists(rotatedBy)'",
    with: "'attribute_not_exists(revokedAt)'",
  },
  {
    what: 'A key whose write got no response stays active.',
    scope: 'a key is issued',
    file: lifecycle,
    replace: "ConditionExpression: 'attribute_not_exists(revokedAt)',",
    with: "ConditionExpression: 'attribute_exists(keyId) AND attribute_not_exists(revokedAt)',",
  },
  {
    what: 'Two rotations leave two successors.',
    scope: 'two operators rotate',
    file: lifecycle,
    replace: 'attribute_exists(keyId) AND attribute_not_exists(rotatedBy) AND',
    with: 'attribute_exists(keyId) AND',
  },
  {
    what: 'A rotation whose last response is lost revokes the valid successor.',
    scope: 'a key is rotated',
    file: lifecycle,
    replace: "'successor.keyId = :keyId OR ' +",
    with: "'(successor.keyId = :keyId AND attribute_not_exists(successor)) OR ' +",
  },
  {
    what: 'A rotation that loses against another one leaves its successor.',
    scope: 'two operators rotate',
    file: lifecycle,
    replace: 'if (isRotated) return;',
    with: 'return;',
  },
  {
    what: 'A rotation restores a revoked key.',
    scope: 'one operator',
    file: lifecycle,
    replace:
      "'(attribute_exists(keyId) AND attribute_not_exists(rotatedBy) AND attribute_not_exists(revokedAt))'",
    with: "'(attribute_exists(keyId) AND attribute_not_exists(rotatedBy))'",
  },
  {
    what: 'The old key expires at once.',
    scope: 'a client uses',
    file: lifecycle,
    replace: 'const end = timeAfter(overlap);',
    with: 'const end = timeAfter(0);',
  },
  {
    what: 'A copy overwrites what a client has stored meanwhile.',
    scope: 'a lost book',
    file: copy,
    replace: 'Item: withIndexKeys(item), ...isMissing })',
    with: 'Item: withIndexKeys(item) })',
  },
  {
    what: 'A copy ignores writes that fail.',
    scope: 'a lost book',
    file: scan,
    replace: 'if (await write())',
    with: 'if (await write().catch(() => false))',
  },
  {
    what: 'A copy that is killed skips the rest of a page.',
    scope: 'a lost book',
    file: scan,
    replace: 'const writes = await writesFor(Items);',
    with: 'progress.last = LastEvaluatedKey; store.write(segment, progress); const writes = await writesFor(Items);',
  },
  {
    what: 'A copy restores a key that was revoked while its record was missing.',
    scope: 'a lost key',
    file: 'docs/runbook/restored-keys.ts',
    replace: "if (stored?.['revokedAt']) return attributesOf(stored);",
    with: '',
  },
  {
    what: 'A copy looks for a revocation only before it writes the record.',
    scope: 'a lost key',
    file: 'docs/runbook/restored-keys.ts',
    replace: 'if (isCopied && before) return true;',
    with: 'if (isCopied) return true;',
  },
  {
    what: 'A revocation of a lost key looks for the record only before it is stored.',
    scope: 'a lost key',
    file: lifecycle,
    replace: 'if (restored) return revokeApiKey(store, restored, caller);',
    with: '',
  },
  {
    what: 'A create goes on after the function has responded with a 503.',
    scope: 'a create whose',
    file: idempotency,
    replace: 'abortSignal: signal',
    with: '',
  },
];

async function findAll(): Promise<void> {
  for (const [index, { what }] of defects.entries()) {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--defect', `${index + 1}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    const counts = output.match(/^.*: [\d,]+ (?:random )?schedules$/gm) ?? [];
    const isFound = code === 1 && output.includes('To replay');
    if (!isFound) process.exitCode = 1;
    console.log(
      `${index + 1}. ${isFound ? 'found' : 'NOT FOUND'}: ${what} ${isFound ? `(${counts.at(-1)})` : output}`,
    );
  }
}

/** Runs the simulation with a defect, in this process. */
async function find({ scope, file, replace, with: replacement }: Defect): Promise<void> {
  let isReplaced = false;
  registerHooks({
    load(url, context, nextLoad) {
      const result = nextLoad(url, context);
      // URLs are compared without their query, because each import of a runbook script has a different one.
      if (url.split('?')[0] !== new URL(file, `file://${projectRoot}`).href) return result;
      const source = Buffer.from(result.source as Buffer).toString();
      if (!source.includes(replace)) throw new Error(`${file} does not contain: ${replace}`);
      isReplaced = true;
      return { ...result, source: source.replace(replace, () => replacement) };
    },
  });
  process.argv.splice(2, Infinity, '--scope', scope, '--deviations', '2', '--minutes', '0');
  await import('./main.ts');
  if (!isReplaced) throw new Error(`The simulation does not load ${file}.`);
}

await runWithOptions(USAGE, { defect: { type: 'string' } }, async ({ defect }) => {
  if (defect === undefined) return findAll();
  await find(defects[integerOption('--defect', defect, 1, defects.length) - 1]!);
});
