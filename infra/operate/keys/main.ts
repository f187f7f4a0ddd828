import { Command, Option } from 'commander';
import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { keyStates, type KeyState, stateOf } from '../../../shared/storage/api-keys.ts';
import { stages } from '../../stages.ts';
import { isNpmOption, onInterrupt, plain, runCommand, UsageError } from '../command.ts';
import { findApiKey, issueApiKey, listApiKeys, revokeApiKey } from './lifecycle.ts';
import { readDuration, readKeyId, readOwner } from './options.ts';
import { confirm, print, printList, printNewKey, toJson } from './output.ts';
import { findLocalService, useLocalDatabase } from './local-service.ts';
import { findRotatableKey, rotateApiKey } from './rotation.ts';

// `npm run keys`: see docs/api-keys.md. Durations are in milliseconds.

interface Options {
  stage: string;
  /** Data folder of the local service, or `memory`. */
  data?: string;
  json?: true;
}

type NewKeyOptions = Options & { expiresIn?: number; quiet?: true };

const program = new Command('npm run keys --')
  .description(
    'Manages the API keys of a stage. A deployed stage is found with your AWS credentials and region. For programs, ' +
      'npm run --silent keeps the output of npm out of the result. More in docs/api-keys.md.',
  )
  .helpCommand(false)
  .configureOutput({ outputError: (message, write) => write(`${sentenceOf(message)}\n`) });

const quiet = new Option('--quiet', 'print only the key').conflicts('json');

keyCommand('issue', 'issue a key and show it once')
  .requiredOption('--owner <name>', 'who will use the key', readOwner)
  .option('--expires-in <duration>', 'lifetime, such as 90d, 12h or 30m (default: no expiry)', readDuration)
  .addOption(quiet)
  .action(async (options: NewKeyOptions & { owner: string }) => {
    const { store, findCaller } = await findKeyStage(options);
    const { owner, expiresIn: lifetime } = options;
    const newKey = { owner, lifetime, caller: await findCaller() };
    finishDespiteInterrupt();
    await issueApiKey(store, newKey, (issued) => printNewKey(issued, options));
  });

keyCommand('list', 'list keys, newest first')
  .option('--owner <name>', 'only the keys of this owner')
  .addOption(new Option('--state <state>', 'only the keys in this state').choices(keyStates))
  .action(async (options: Options & { owner?: string; state?: KeyState }) => {
    const { store } = await findKeyStage(options);
    const owner = options.owner?.trim();
    const records = await Array.fromAsync(listApiKeys(store));
    const shown = records
      .filter((record) => owner === undefined || record.owner === owner)
      .filter((record) => !options.state || stateOf(record, new Date()) === options.state);
    await printList(shown, options.json);
  });

keyCommand('rotate', 'issue the successor of a key and show it once; the key expires after the overlap')
  .argument('<keyId>', 'id of the key, as list shows it', readKeyId)
  .addOption(
    new Option('--overlap <duration>', 'how long both keys work')
      .argParser(readDuration)
      .default(readDuration('24h'), '24h'),
  )
  .option('--expires-in <duration>', 'lifetime of the successor (default: that of the key)', readDuration)
  .addOption(quiet)
  .action(async (keyId: string, options: NewKeyOptions & { overlap: number }) => {
    const { store, findCaller } = await findKeyStage(options);
    const predecessor = await findRotatableKey(store, keyId);
    const { overlap, expiresIn: lifetime } = options;
    const rotation = { overlap, lifetime, caller: await findCaller() };
    finishDespiteInterrupt();
    await rotateApiKey(store, predecessor, rotation, (successor, expiresAt) =>
      printNewKey(successor, options, { keyId, expiresAt }),
    );
  });

keyCommand('revoke', 'revoke a key for good')
  .argument('<keyId>', 'id of the key, as list shows it', readKeyId)
  .option('--yes', 'do not ask')
  .action(async (keyId: string, options: Options & { yes?: true }) => {
    const { store, findCaller } = await findKeyStage(options);
    const found = await findApiKey(store, keyId);
    const isRevoked = stateOf(found, new Date()) === 'revoked';
    const question = `Revoke ${keyId} of ${found.owner} (${found.start}…)?`;
    if (!isRevoked && !options.yes && !(await confirm(question))) {
      throw new UsageError('Nothing was revoked. Where nobody can answer, add --yes.');
    }
    const revoked = isRevoked ? found : await revokeApiKey(store, found, await findCaller());
    const { revokedAt, revokedBy, owner, successor } = revoked;
    if (successor) console.error(`Its successor is ${successor.keyId}: revoke it too if it leaked.`);
    if (options.json) return print(toJson(revoked));
    // Of any stage: one on demand has the settings of another.
    const seconds = Math.max(...Object.values(stages).map((stage) => stage.authorizerCacheSeconds));
    await print(
      `The key ${keyId} of ${plain(owner)} was revoked at ${revokedAt} by ${revokedBy?.caller}.\n` +
        `It may work for up to ${seconds} seconds after that, because API Gateway caches the authorizer's decisions.`,
    );
  });

/** Returns a command with the options that all have. */
function keyCommand(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .requiredOption('--stage <stage>', 'whose keys: a deployed stage, such as staging, or local')
    .option('--data <folder>', 'data folder of the local service, or memory (default: the one that runs)')
    .option('--json', 'print JSON, for programs');
}

/** Leads the SDK to the keys of a stage. @throws UsageError if it is not deployed, or the local service is not running. */
async function findKeyStage({ stage, data }: Options) {
  if (stage === 'local') {
    const { service } = await findLocalService(data);
    useLocalDatabase(service);
    return {
      store: { stage: service.stage, table: service.apiKeysTable },
      findCaller: async () => service.operatorArn,
    };
  }
  // Loaded only for a deployed stage, because it takes time.
  const { findCaller, findDeployedStage } = await import('../deployed-stage.ts');
  const { apiKeysTable } = await findDeployedStage(stage);
  return { store: { stage, table: apiKeysTable }, findCaller };
}

/** An interrupted command could leave a key that nobody has seen. */
function finishDespiteInterrupt(): void {
  onInterrupt(() => console.error('Going on to the end of this step …'));
}

/** Returns one sentence about wrong arguments. They may be a key, even a mistyped one, or control the terminal. */
function sentenceOf(message: string): string {
  if (isNpmOption('stage') && message.includes("'--stage <stage>' not specified")) {
    return 'Write two dashes before the command: npm run keys -- list --stage staging.';
  }
  const sentence = plain(message)
    .trim()
    .replace(/^error: /, '')
    .replaceAll(new RegExp(`${keyPrefix('[a-z]+')}\\w+`, 'g'), 'pets_…');
  return `${sentence[0]?.toUpperCase()}${sentence.slice(1).replace(/\.$/, '')}.`;
}

await runCommand(async () => {
  await program.parseAsync();
});
