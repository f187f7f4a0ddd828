import { parseArgs, type ParseArgsConfig } from 'node:util';

/** An error that the operator can fix. Shown as one message, without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Returns text from elsewhere without characters that break a line or control a terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** Calls a function at the first Ctrl-C, and ignores others: npm forwards a signal that the terminal has sent already. */
export function onInterrupt(act: (signal: NodeJS.Signals) => void): void {
  let isInterrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!isInterrupted) act(signal);
      isInterrupted = true;
    });
  }
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Values<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/**
 * Runs a command with the options of the command line. `--help` prints the usage instead.
 *
 * @param usage begins with a line that shows how to call the command
 */
export function runWithOptions<const T extends Options>(
  usage: string,
  options: T,
  command: (values: Values<T>, positionals: string[]) => Promise<void> | void,
  { allowPositionals = false } = {},
): Promise<void> {
  return runCommand(async () => {
    const all: Options = { ...options, help: { type: 'boolean' } };
    const args = process.argv.slice(2);
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options: all });
    if (values['help']) return console.log(usage);
    // A positional is not quoted, as it may be an API key.
    if (Object.keys(options).some(isNpmOption) || (positionals.length > 0 && !allowPositionals)) {
      throw new UsageError(`Call it like this, with the two dashes: ${usage.split('\n')[0]}`);
    }
    return command(values as Values<T>, positionals);
  });
}

/** npm takes options for its own unless they follow two dashes. */
export function isNpmOption(option: string): boolean {
  return process.env[`npm_config_${option.replaceAll('-', '_')}`] !== undefined;
}

/** Runs a command. An error that its operator can fix becomes one message, any other a stack trace. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    const message = explain(error as CommandError);
    if (message === undefined) throw error;
    console.error(message.split('\n').map(plain).join('\n'));
    process.exit(process.exitCode ?? 1);
  }
}

type CommandError = Error & { code?: string; $metadata?: unknown };

/** Returns the message for the operator, or undefined if the error is a bug. */
function explain(error: CommandError): string | undefined {
  const { code, name, message } = error;
  if (error instanceof UsageError) return message;
  const [, sentence] = sentences.find(([pattern]) => pattern.test(`${code} ${name}: ${message}`)) ?? [];
  if (sentence) return sentence.endsWith('.') ? sentence : `${sentence}: ${message.replace(/\.$/, '')}.`;
  if (code?.startsWith('ERR_PARSE_ARGS')) return message.replace(/ To specify a positional .*/s, '');
  return error.$metadata ? message : undefined;
}

/** What to do about an error, by its code, name and message. A sentence without a period is followed by the message. */
const sentences: [error: RegExp, sentence: string][] = [
  [/: Region is missing/, 'Set AWS_REGION to the region of the stage.'],
  [/: Region not accepted/, 'AWS_REGION must be a region such as eu-central-1'],
  [/does not have the specified index/, 'The stage is older than this command: deploy it first.'],
  [
    /^(EAI_AGAIN|ECONN(REFUSED|RESET)|E(HOST|NET)UNREACH|ENOTFOUND|EPROTO|ETIMEDOUT) /,
    'AWS cannot be reached; check your network and AWS_REGION',
  ],
  [/ CredentialsProviderError: /, 'Set your AWS credentials, AWS_PROFILE for example'],
  [/ AccessDenied\w*: /, 'AWS does not allow this; ask for the policy in docs/api-keys.md, "Permissions"'],
  // The names differ between DynamoDB, CloudFormation and STS.
  [
    / \w*(Token|Signature|RequestExpired|UnrecognizedClient)\w*: /,
    'AWS does not accept your credentials; sign in again, or check AWS_PROFILE and AWS_REGION',
  ],
];
