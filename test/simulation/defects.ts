import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { registerHooks } from 'node:module';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { integerOption, projectRoot, runWithOptions } from '../../infra/command.ts';

const USAGE = `node --require ./infra/require-node.cjs test/simulation/defects.ts [--defect N]

Checks that the simulation finds each of a list of defects. For each defect, a new process replaces a text in the code that
it loads, and runs the simulation. The command fails if a defect is not found. It takes about a minute.

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
const page = 'shared/storage/page.ts';
const authorizer = 'functions/authorizer.ts';
const keyStore = 'infra/operate/key-store.ts';

const defects: Defect[] = [
  {
    what: 'A create overwrites the book that has its id.',
    scope: 'three creates',
    file: collection,
    replace: "ConditionExpression: 'attribute_not_exists(id)',",
    with: '',
  },
  {
    what: 'A create returns another book that has its id.',
    scope: 'three creates',
    file: collection,
    replace: 'stored.creation === creation',
    with: 'stored.creation !== undefined',
  },
  {
    what: 'Only the first taken id is replaced in the idempotency record, so a create can fail without a fault.',
    scope: 'three creates',
    file: collection,
    replace: 'taken = id;',
    with: 'taken ??= id;',
  },
  {
    what: 'A create without a key is repeated if the response to its write is lost.',
    scope: 'a create without',
    file: collection,
    replace: 'stored.creation === creation',
    with: 'intent !== undefined && stored.creation === creation',
  },
  {
    what: 'A retry stores a second book.',
    scope: 'a create with a key',
    file: idempotency,
    replace: 'return earlier.itemId;',
    with: 'return proposed;',
  },
  {
    what: 'A retry gets a field that the first version did not store.',
    scope: 'a create with a key',
    file: collection,
    replace: 'return published(collection, stored);',
    with: 'return item;',
  },
  {
    what: 'A key stands for two books that only a newer version distinguishes.',
    scope: 'two requests with the same key and books',
    file: idempotency,
    replace: "fingerprint: hash('sha256', rawBody),",
    with: "fingerprint: hash('sha256', rawBody.toString().replace(/,\"tag\":[^}]*/, '')),",
  },
  {
    what: 'Clients share idempotency keys.',
    scope: 'three creates',
    file: idempotency,
    replace: '[firstKeyId, operationId, idempotencyKey]',
    with: '[operationId, idempotencyKey]',
  },
  {
    what: 'A rotated API key has its own idempotency keys.',
    scope: 'a create with a key',
    file: authorizer,
    replace: 'return { keyId, firstKeyId,',
    with: 'return { keyId, firstKeyId: keyId,',
  },
  {
    what: 'A key expires after 24 hours on the clock of the instance.',
    scope: 'a retry just',
    file: idempotency,
    replace: ' + GRACE_SECONDS',
    with: '',
  },
  {
    what: 'A key never expires.',
    scope: 'a key that has expired',
    file: idempotency,
    replace: 'OR expiresAt < :now OR',
    with: 'OR (expiresAt < :now AND expiresAt > :now) OR',
  },
  {
    what: 'A create goes on after the function has responded with a 503.',
    scope: 'a create whose',
    file: 'shared/storage/database.ts',
    replace: 'new PutCommand(put), { abortSignal }',
    with: 'new PutCommand(put)',
  },
  {
    what: 'A page repeats the last item of the page before.',
    scope: 'pages of a list',
    file: page,
    replace: 'AND id < :cursor',
    with: 'AND id <= :cursor',
  },
  {
    what: 'A list ends with a page that DynamoDB shortens.',
    scope: 'pages of a list',
    file: page,
    replace: 'Items.length > limit || LastEvaluatedKey',
    with: 'Items.length > limit',
  },
  {
    what: 'A list omits the books of instances with fast clocks.',
    scope: 'pages of a list',
    file: page,
    replace: 'const { limit, cursor } = query;',
    with: 'const { limit, cursor = BigInt(Date.now() - 1_735_689_600_000) * 4_096n } = query;',
  },
  {
    what: 'A combination of filters lists other books.',
    scope: 'pages of a filtered',
    file: 'shared/contract/lists.ts',
    replace: "present.join('#')",
    with: 'String(present[0])',
  },
  {
    what: 'The authorizer takes the time before it reads a key.',
    scope: 'a key expires',
    file: authorizer,
    replace: 'await findRecord(key);',
    with:
      'await ((now) => findRecord(key).then((found) => ' +
      "found && stateOf(found, now) === 'active' ? { ...found, expiresAt: undefined } : found))(new Date());",
  },
  {
    what: 'A late write of a new key undoes its revocation.',
    scope: 'a key is issued',
    file: keyStore,
    replace: "'attribute_not_exists(revokedAt) AND attribute_not_exists(rotatedBy)'",
    with: "'attribute_not_exists(rotatedBy)'",
  },
  {
    what: 'A key whose write got no response stays active.',
    scope: 'a key is issued',
    file: keyStore,
    replace: "ConditionExpression: 'attribute_not_exists(revokedAt)',",
    with: "ConditionExpression: 'attribute_exists(keyId) AND attribute_not_exists(revokedAt)',",
  },
  {
    what: 'Two rotations leave two successors.',
    scope: 'two operators rotate',
    file: keyStore,
    replace: 'attribute_exists(keyId) AND attribute_not_exists(rotatedBy) AND',
    with: 'attribute_exists(keyId) AND',
  },
  {
    what: 'A rotation whose last response is lost revokes the valid successor.',
    scope: 'a key is rotated',
    file: keyStore,
    replace: "'successor.keyId = :keyId OR ' +",
    with: "'(successor.keyId = :keyId AND attribute_not_exists(successor)) OR ' +",
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
      if (url !== new URL(file, `file://${projectRoot}`).href) return result;
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
