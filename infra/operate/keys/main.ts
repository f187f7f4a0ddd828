import { Command, Option } from 'commander';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { keyStates } from '../../../shared/storage/api-keys.ts';
import { isTakenByNpm, plain, runCommand } from '../command.ts';
import { issue, list, revoke, rotate } from './commands.ts';
import { readDuration, readKeyId, readOwner } from './options.ts';
import { stages } from '../../stages.ts';

// `npm run keys`: see docs/api-keys.md.

const program = new Command('npm run keys --')
  .description('Manages the API keys of a stage.')
  .helpCommand(false)
  .configureOutput({ outputError: (message, write) => write(`${sentenceOf(message)}\n`) })
  .addHelpText(
    'after',
    `
A deployed stage is found with your AWS credentials and region. For programs, npm run --silent keeps the output of npm
out of the result. More in docs/api-keys.md.`,
  );

keyCommand('issue', 'issue a key and show it once')
  .requiredOption('--owner <name>', 'who will use the key', readOwner)
  .option('--expires-in <duration>', 'lifetime, such as 90d, 12h or 30m (default: no expiry)', readDuration)
  .addOption(quietOption())
  .action(issue);

keyCommand('list', 'list keys, newest first')
  .option('--owner <name>', 'only the keys of this owner')
  .addOption(new Option('--state <state>', 'only the keys in this state').choices(keyStates))
  .action(list);

keyCommand('rotate', 'issue the successor of a key and show it once; the key expires after the overlap')
  .argument('<keyId>', 'id of the key, as list shows it', readKeyId)
  .addOption(
    new Option('--overlap <duration>', 'how long both keys work')
      .argParser(readDuration)
      .default(readDuration('24h'), '24h'),
  )
  .option('--expires-in <duration>', 'lifetime of the successor (default: that of the key)', readDuration)
  .addOption(quietOption())
  .action(rotate);

keyCommand('revoke', 'revoke a key for good')
  .argument('<keyId>', 'id of the key, as list shows it', readKeyId)
  .option('--yes', 'do not ask')
  .action(revoke);

/** A command with the options that all have. */
function keyCommand(name: string, description: string): Command {
  const stage = new Option('--stage <stage>', 'whose keys').choices([...Object.keys(stages), 'local']);
  const data = fileURLToPath(new URL('../../../.petstore/staging', import.meta.url));
  return program
    .command(name)
    .description(description)
    .addOption(stage.makeOptionMandatory())
    .option('--data <folder>', 'data folder of the local service', (folder) => resolve(folder), data)
    .option('--json', 'print JSON, for programs');
}

function quietOption(): Option {
  return new Option('--quiet', 'print only the key').conflicts('json');
}

/** Returns one sentence about wrong arguments. They may be a key, even a mistyped one, or control the terminal. */
function sentenceOf(message: string): string {
  if (isTakenByNpm('stage') && message.includes("'--stage <stage>' not specified")) {
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
