import { Command, Option } from 'commander';
import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { keyStates, type KeyState, stateOf } from '../../../shared/storage/api-keys.ts';
import { connect, database } from '../../../shared/storage/database.ts';
import { stages } from '../../stages.ts';
import { isNpmOption, onInterrupt, plain, runCommand, UsageError } from '../../command.ts';
import {
  findApiKey,
  findRotatableKey,
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from './lifecycle.ts';
import { readDuration, readKeyId, readOwner } from './options.ts';
import { confirm, print, printList, printNewKey, toJson } from './output.ts';
import { databaseSettings, findLocalService } from '../../local/local-service.ts';

interface Options {
  stage: string;
  data?: string;
  json?: true;
}

type NewKeyOptions = Options & { expiresIn?: number; quiet?: true };

const program = new Command('npm run keys --')
  .description(
    'Manages the API keys of a stage. A deployed stage requires AWS credentials and AWS_REGION. In scripts, use ' +
      'npm run --silent, so that npm prints no output of its own. For details, see docs/api-keys.md.',
  )
  .helpCommand(false)
  .configureOutput({ outputError: (message, write) => write(`${sentenceOf(message)}\n`) });

const quiet = new Option('--quiet', 'print only the key').conflicts('json');

keyCommand('issue', 'issue a key and show it once')
  .requiredOption('--owner <name>', 'client that will use the key', readOwner)
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
  .option('--owner <name>', 'list only the keys of this owner')
  .addOption(new Option('--state <state>', 'list only the keys in this state').choices(keyStates))
  .action(async (options: Options & { owner?: string; state?: KeyState }) => {
    const { store } = await findKeyStage(options);
    const owner = options.owner?.trim();
    const records = await Array.fromAsync(listApiKeys(store));
    const shown = records
      .filter((record) => owner === undefined || record.owner === owner)
      .filter((record) => !options.state || stateOf(record, new Date()) === options.state);
    await printList(shown, options.json);
  });

keyCommand('rotate', 'issue a successor to a key, and let the old key expire after an overlap')
  .argument('<keyId>', 'key id, as printed by list', readKeyId)
  .addOption(
    new Option('--overlap <duration>', 'time during which both keys work')
      .argParser(readDuration)
      .default(readDuration('24h'), '24h'),
  )
  .option('--expires-in <duration>', "successor's lifetime (default: lifetime of the old key)", readDuration)
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

keyCommand('revoke', 'revoke a key permanently')
  .argument('<keyId>', 'key id, as printed by list', readKeyId)
  .option('--yes', 'do not ask for confirmation')
  .action(async (keyId: string, options: Options & { yes?: true }) => {
    const { store, findCaller } = await findKeyStage(options);
    const found = await findApiKey(store, keyId);
    const isRevoked = stateOf(found, new Date()) === 'revoked';
    const question = `Revoke ${keyId} of ${found.owner} (${found.start}…)?`;
    if (!isRevoked && !options.yes && !(await confirm(question))) {
      throw new UsageError('No key was revoked. To revoke a key without confirmation, add --yes.');
    }
    const revoked = isRevoked ? found : await revokeApiKey(store, found, await findCaller());
    const { revokedAt, revokedBy, owner, successor } = revoked;
    if (successor) console.error(`The successor is ${successor.keyId}. Revoke it too if it leaked.`);
    if (options.json) return print(toJson(revoked));
    // A drill stage can have the settings of any stage, so the message uses the maximum of all stages.
    const seconds = Math.max(...Object.values(stages).map((stage) => stage.authorizerCacheSeconds));
    await print(
      `The key ${keyId} of ${plain(owner)} was revoked at ${revokedAt} by ${revokedBy?.caller}.\n` +
        `API Gateway may accept the key for up to ${seconds} more seconds, because it caches authorizer decisions.`,
    );
  });

function keyCommand(name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .requiredOption('--stage <stage>', 'stage of the keys: local, or a deployed stage such as staging')
    .option('--data <folder>', 'data folder of the local service, or memory (default: the running service)')
    .option('--json', 'print JSON');
}

/** Returns the key store of a stage, and a function that returns the operator's ARN. */
async function findKeyStage({ stage, data }: Options) {
  if (stage === 'local') {
    const service = await findLocalService(data);
    const local = connect(databaseSettings(service));
    return {
      store: { stage: service.stage, table: service.apiKeysTable, database: local },
      findCaller: async () => service.operatorArn,
    };
  }
  // This import is slow, so it is executed only for a deployed stage.
  const { findCaller, findDeployedStage } = await import('../deployed-stage.ts');
  const { apiKeysTable } = await findDeployedStage(stage);
  return { store: { stage, table: apiKeysTable, database }, findCaller };
}

/** Ignores Ctrl-C, because an interrupted command could leave a key that was never shown. */
function finishDespiteInterrupt(): void {
  onInterrupt(() => console.error('Finishing this step before exiting …'));
}

/** Returns a parser error as one line, without keys and control characters from the arguments. */
function sentenceOf(message: string): string {
  if (isNpmOption('stage') && message.includes("'--stage <stage>' not specified")) {
    return 'npm consumed the option --stage. Put two dashes before the action: npm run keys -- list --stage staging.';
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
