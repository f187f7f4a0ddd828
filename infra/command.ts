import { randomInt } from 'node:crypto';
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** An error that the operator can fix. Commands print the error's message without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Replaces line breaks and control characters with spaces. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** Calls `act` for the first signal only, because npm repeats each Ctrl-C that the terminal sends. */
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

/** Runs `command` with the parsed options, or prints `usage` for `--help`. Errors quote the first line of `usage`. */
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
      throw new UsageError(`Invalid arguments. Usage, including the two dashes: ${usage.split('\n')[0]}`);
    }
    return command(values as Values<T>, positionals);
  });
}

/** Checks whether npm consumed `option`. npm consumes all options that do not follow two dashes. */
export function isNpmOption(option: string): boolean {
  return process.env[`npm_config_${option.replaceAll('-', '_')}`] !== undefined;
}

/** Runs `command`. If the command fails with an error that the operator can fix, prints only the message and exits. */
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

/** Advice for errors that match a pattern. If the advice has no final period, the error's message is appended. */
const adviceByError: [error: RegExp, advice: string][] = [
  [/: Region is missing/, 'Set AWS_REGION to the region of the stage.'],
  [/: Region not accepted/, 'AWS_REGION must be a region such as eu-central-1'],
  [/does not have the specified index/, 'The stage is too old for this command. Deploy the stage again.'],
  [
    /^(EAI_AGAIN|ECONN(REFUSED|RESET)|E(HOST|NET)UNREACH|ENOTFOUND|EPROTO|ETIMEDOUT) /,
    'AWS cannot be reached. Check your network and AWS_REGION',
  ],
  [/ CredentialsProviderError: /, 'Set your AWS credentials, for example with AWS_PROFILE'],
  [/ AccessDenied\w*: /, 'Your credentials are missing a permission. See "Permissions" in docs/api-keys.md'],
  // The pattern is broad, because DynamoDB, CloudFormation and STS use different error names.
  [
    / \w*(Token|Signature|RequestExpired|UnrecognizedClient)\w*: /,
    'AWS does not accept your credentials. Sign in again, or check AWS_PROFILE and AWS_REGION',
  ],
];

/** @throws UsageError if `text` is not an integer in the range. The message omits `text`, because it can be an API key. */
export function integerOption(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${name} must be an integer from ${least} to ${most}.`);
}

const SEEDS = 2 ** 31;

/** Returns the option's value as a seed, or a random seed if the option is not set. */
export function seedOption(name: string, text = randomInt(SEEDS).toString()): number {
  return integerOption(name, text, 0, SEEDS - 1);
}

/** Returns a function that prints a line to standard error for every 10 % of `total` that is done. */
export function showProgress(what: string, total: number): (done: number) => void {
  let shown = -1;
  return (done) => {
    const tenths = Math.floor((done / total) * 10);
    if (tenths > shown) console.error(`${what}: ${tenths * 10} %`);
    shown = tenths;
  };
}
