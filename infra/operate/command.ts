import { parseArgs, type ParseArgsConfig } from 'node:util';

/** Error that the operator can fix. Commands print its message without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Replaces line breaks and control characters by spaces. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** Calls a function at the first Ctrl-C only, because npm forwards a signal that the terminal has already sent. */
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

/** Runs a command, or prints the usage for `--help`. The first line of the usage is the syntax of the command. */
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
    // The message does not quote positional arguments, because they may be API keys.
    if (Object.keys(options).some(isNpmOption) || (positionals.length > 0 && !allowPositionals)) {
      throw new UsageError(`Invalid arguments. Use two dashes before options: ${usage.split('\n')[0]}`);
    }
    return command(values as Values<T>, positionals);
  });
}

/** Checks whether npm took an option for itself, which it does unless the option follows two dashes. */
export function isNpmOption(option: string): boolean {
  return process.env[`npm_config_${option.replaceAll('-', '_')}`] !== undefined;
}

/** Runs a command. Prints only the message of an error that the operator can fix, and throws any other error. */
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
  const [, advice] = adviceByError.find(([pattern]) => pattern.test(`${code} ${name}: ${message}`)) ?? [];
  if (advice) return advice.endsWith('.') ? advice : `${advice}. Cause: ${message.replace(/\.$/, '')}.`;
  if (code?.startsWith('ERR_PARSE_ARGS')) return message.replace(/ To specify a positional .*/s, '');
  return error.$metadata ? message : undefined;
}

/** Advice by error code, name and message. Advice without a final period is followed by the error's message. */
const adviceByError: [error: RegExp, advice: string][] = [
  [/: Region is missing/, 'Set AWS_REGION to the region of the stage.'],
  [/: Region not accepted/, 'AWS_REGION must be a region such as eu-central-1'],
  [/does not have the specified index/, 'The stage is older than this command. Deploy the stage first.'],
  [
    /^(EAI_AGAIN|ECONN(REFUSED|RESET)|E(HOST|NET)UNREACH|ENOTFOUND|EPROTO|ETIMEDOUT) /,
    'AWS cannot be reached. Check your network and AWS_REGION',
  ],
  [/ CredentialsProviderError: /, 'Set your AWS credentials, for example with AWS_PROFILE'],
  [/ AccessDenied\w*: /, 'Your credentials lack a permission. See docs/api-keys.md, "Permissions"'],
  // DynamoDB, CloudFormation and STS use different names.
  [
    / \w*(Token|Signature|RequestExpired|UnrecognizedClient)\w*: /,
    'AWS does not accept your credentials. Sign in again, or check AWS_PROFILE and AWS_REGION',
  ],
];
