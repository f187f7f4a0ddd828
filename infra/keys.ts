import { Command, CommanderError, Option } from 'commander';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ApiKeyRecord, type KeyState, keyStates, type KeyStore, stateOf } from '../shared/api-keys.ts';
import { runCommand, uninterrupted, UsageError } from './command.ts';
import { confirm, plain, print, printForPrograms, printList, printNewKey, toJson } from './key-output.ts';
import { findApiKey, issueApiKey, listApiKeys, revokeApiKey } from './key-lifecycle.ts';
import { readDuration, readKeyId, readOwner } from './key-options.ts';
import {
  beginRotation,
  completeRotation,
  endOfOverlap,
  findBegunSuccessor,
  findRotatableKey,
} from './key-rotation.ts';
import { findKeyStage } from './key-stage.ts';
import { stages, type StageName } from './stages.ts';

// The operator command `npm run keys -- issue|list|rotate|revoke`. See docs/api-keys.md.

interface StageOptions {
  stage: string;
  /** Data folder of the local service. */
  data: string;
  json?: true;
}

interface ListOptions extends StageOptions {
  owner?: string;
  state?: KeyState;
}

interface RevokeOptions extends StageOptions {
  yes?: true;
}

interface NewKeyOptions extends StageOptions {
  /** In milliseconds. */
  expiresIn?: number;
  quiet?: true;
}

interface IssueOptions extends NewKeyOptions {
  owner: string;
}

interface RotateOptions extends NewKeyOptions {
  /** In milliseconds. */
  overlap: number;
  complete?: true;
  yes?: true;
}

const program = new Command('npm run keys --')
  .description('API keys of a stage: who may call it, and for how long.')
  .helpCommand(false)
  // What is wrong becomes one sentence, as in the other commands.
  .exitOverride()
  .configureOutput({ outputError: () => {} })
  .addHelpText(
    'after',
    '\nA deployed stage is found with your AWS credentials and region. When the output goes to a program, npm run --silent\nkeeps npm from writing into it. More in docs/api-keys.md.',
  );

keyCommand('issue', 'issue a key and show it, this once')
  .requiredOption('--owner <name>', 'who is going to use it', readOwner)
  .option(
    '--expires-in <duration>',
    'how long it works, such as 90d, 12h or 30m (default: without end)',
    readDuration,
  )
  .addOption(quietOption())
  .action(issue);

keyCommand('list', 'list all keys, newest first')
  .option('--owner <name>', 'those of this owner alone')
  .addOption(new Option('--state <state>', 'those in this state alone').choices(keyStates))
  .action(list);

keyCommand('rotate', 'issue the successor of a key and show it; the key expires after an overlap')
  .argument('<keyId>', 'the id of the key, as list shows it', readKeyId)
  .addOption(
    new Option('--overlap <duration>', 'how long both work')
      .argParser(readDuration)
      .default(readDuration('24h'), '24h'),
  )
  .option(
    '--expires-in <duration>',
    'how long the successor works (default: as long as the key was issued for)',
    readDuration,
  )
  .addOption(
    new Option(
      '--complete',
      'keep the key that a rotation which was cut off has shown, and complete it',
    ).conflicts(['quiet', 'expiresIn']),
  )
  .option('--yes', 'do not ask when such a key stops working')
  .addOption(quietOption())
  .action(rotate);

keyCommand('revoke', 'end a key for good')
  .argument('<keyId>', 'the id of the key, as list shows it', readKeyId)
  .option('--yes', 'do not ask')
  .action(revoke);

/** A command with the options that all have. */
function keyCommand(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .addOption(
      new Option('--stage <stage>', 'whose keys')
        .choices([...Object.keys(stages), 'local'])
        .makeOptionMandatory(),
    )
    .option(
      '--data <folder>',
      'data folder of the local service',
      (folder) => resolve(folder),
      fileURLToPath(new URL('../.petstore/staging', import.meta.url)),
    )
    .option('--json', 'print JSON, for programs');
}

function quietOption(): Option {
  return new Option('--quiet', 'print the key alone').conflicts('json');
}

async function issue(options: IssueOptions): Promise<void> {
  const { store, findCaller } = await findKeyStage(options);
  const { owner, expiresIn: lifetime } = options;
  const caller = await findCaller();
  await uninterrupted(() =>
    issueApiKey(store, { owner, lifetime, caller }, (issued) => printNewKey(issued, options)),
  );
}

async function list(options: ListOptions): Promise<void> {
  const { store } = await findKeyStage(options);
  const { owner, state } = options;
  const now = new Date();
  const records = await Array.fromAsync(listApiKeys(store));
  await printList(
    records.filter(
      (record) =>
        (owner === undefined || record.owner === owner.trim()) && (!state || stateOf(record, now) === state),
    ),
    options,
  );
}

async function rotate(keyId: string, options: RotateOptions): Promise<void> {
  const { store, findCaller } = await findKeyStage(options);
  const predecessor = await findRotatableKey(store, keyId);
  const caller = await findCaller();
  if (options.complete) return complete(store, predecessor, { ...options, caller });

  if (predecessor.successor) await agreeToTakeOver(predecessor, options.yes);
  const expiresAt = endOfOverlap(predecessor, options.overlap);
  await uninterrupted(async () => {
    const successor = await beginRotation(store, predecessor, { lifetime: options.expiresIn, caller });
    let isComplete: boolean;
    try {
      await printNewKey(successor, { ...options, replaces: { keyId, expiresAt } });
      isComplete = await completeRotation(store, predecessor, successor.record, { expiresAt, caller });
    } catch (error) {
      console.error(
        `The rotation of ${keyId} is not complete: with the new key at hand rotate it with --complete, otherwise again.`,
      );
      throw error;
    }
    if (!isComplete) throw takenOver(keyId);
  });
}

/** Keeps the key that a rotation which was cut off has shown. */
async function complete(
  store: KeyStore,
  predecessor: ApiKeyRecord,
  { overlap, json, caller }: RotateOptions & { caller: string },
): Promise<void> {
  const { keyId } = predecessor;
  const successor = await findBegunSuccessor(store, predecessor);
  const expiresAt = endOfOverlap(predecessor, overlap);
  if (!(await completeRotation(store, predecessor, successor, { expiresAt, caller }))) throw takenOver(keyId);
  if (json) return printForPrograms(toJson(await findApiKey(store, keyId)));
  return print(`The key ${keyId} works until ${expiresAt}; its successor is ${successor.keyId}.`);
}

function takenOver(keyId: string): UsageError {
  return new UsageError(
    `Somebody else rotates ${keyId} too, and has taken over: use no key that was shown here.`,
  );
}

async function revoke(keyId: string, options: RevokeOptions): Promise<void> {
  const { store, findCaller } = await findKeyStage(options);
  const found = await findApiKey(store, keyId);
  const isRevoked = stateOf(found, new Date()) === 'revoked';
  if (
    !isRevoked &&
    !options.yes &&
    !(await confirm(`Revoke ${keyId} of ${plain(found.owner)} (${found.start}…)?`))
  ) {
    throw new UsageError('Nothing was revoked. Where nobody can answer, add --yes.');
  }
  const revoked = isRevoked ? found : await revokeApiKey(store, found, await findCaller());
  const { successor, rotatedBy } = revoked;
  if (successor) {
    console.error(
      rotatedBy
        ? `Its successor ${successor.keyId} is not revoked by this.`
        : `Its rotation was cut off, and ${successor.keyId} may work: revoke it too if nobody has it.`,
    );
  }
  if (options.json) return printForPrograms(toJson(revoked));
  const { revokedAt, revokedBy, owner } = revoked;
  const { authorizerCacheSeconds } = stages[store.stage as StageName];
  await print(
    `The key ${keyId} of ${plain(owner)} was revoked at ${revokedAt} by ${revokedBy?.caller}.\n` +
      `It can go on working for ${authorizerCacheSeconds} seconds from then, as API Gateway keeps the authorizer's decisions.`,
  );
}

/** Whoever has seen the key of a rotation that was cut off may be using it. At a terminal they are asked. */
async function agreeToTakeOver({ keyId, successor }: ApiKeyRecord, yes: true | undefined): Promise<void> {
  const warning = `A rotation of ${keyId} to ${successor?.keyId} was cut off: the key that it may have shown stops working.`;
  if (yes || !process.stdin.isTTY) return console.error(warning);
  if (!(await confirm(`${warning} Go on?`))) throw new UsageError('Nothing was rotated.');
}

async function main(): Promise<void> {
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode;
    const hasShownHelp = error.exitCode === 0 || error.code === 'commander.help';
    if (!hasShownHelp) throw new UsageError(sentenceOf(error));
  }
}

/** What is wrong with the arguments, which may be a key, or steer the terminal. */
function sentenceOf({ message }: CommanderError): string {
  const sentence = plain(message)
    .replace(/^error: /, '')
    .replaceAll(/pets_[a-z]+_\w+/g, 'pets_…');
  return `${sentence[0]?.toUpperCase()}${sentence.slice(1).replace(/\.$/, '')}.`;
}

await runCommand(main);
