import { Command, Option } from 'commander';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyPrefix } from '../../../shared/contract/authorization.ts';
import { keyStates } from '../../../shared/storage/api-keys.ts';
import { plain, runCommand } from '../command.ts';
import { issue, list, revoke, rotate } from './commands.ts';
import { readDuration, readKeyId, readOwner } from './options.ts';
import { stages } from '../../stages.ts';

// The operator command `npm run keys -- issue|list|rotate|revoke`. See docs/api-keys.md.

const program = new Command('npm run keys --')
  .description('API keys of a stage: who may call it, and for how long.')
  .helpCommand(false)
  .configureOutput({ outputError: (message, write) => write(`${sentenceOf(message)}\n`) })
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

keyCommand('rotate', 'issue the successor of a key and show it; the key expires after the overlap')
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
      fileURLToPath(new URL('../../../.petstore/staging', import.meta.url)),
    )
    .option('--json', 'print JSON, for programs');
}

function quietOption(): Option {
  return new Option('--quiet', 'print the key alone').conflicts('json');
}

/** One sentence about arguments that are wrong. They may be a key, even a mistyped one, or steer the terminal. */
function sentenceOf(message: string): string {
  // npm takes options for its own until it sees two dashes.
  if (process.env['npm_config_stage'] !== undefined && message.includes("'--stage <stage>' not specified"))
    return 'Write two dashes before the command: npm run keys -- list --stage staging.';
  const anyKey = new RegExp(`${keyPrefix('[a-z]+')}\\w+`, 'g');
  const sentence = plain(message)
    .trim()
    .replace(/^error: /, '')
    .replaceAll(anyKey, 'pets_…');
  return `${sentence[0]?.toUpperCase()}${sentence.slice(1).replace(/\.$/, '')}.`;
}

await runCommand(async () => {
  await program.parseAsync();
});
