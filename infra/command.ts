import { existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { ANY_STAGE } from '../shared/api-keys.ts';
import { useProxy } from './proxy.ts';

/** Absolute path of the project's folder, with a separator at its end. */
export const projectRoot = fileURLToPath(new URL('..', import.meta.url));

/** An error that the operator can fix. Commands print the error's message without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Replaces each run of line breaks and other nonprinting characters with a space, so that `text` fits on a line. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** Calls `act` only for the first signal, because a Ctrl-C can arrive twice: from the terminal and from npm. */
export function onInterrupt(act: () => void): void {
  let isInterrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!isInterrupted) act();
      isInterrupted = true;
    });
  }
}

type Options = NonNullable<ParseArgsConfig['options']>;
export type OptionValues<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values'];

/**
 * Runs `command`, or prints `usage` for `--help`. If an error is not a bug, prints a message and exits.
 *
 * @example
 * await runWithOptions('npm run hello -- [--name NAME]', { name: { type: 'string' } }, ({ name = 'Mia' }) =>
 *   console.log(`Hello, ${name}`),
 * );
 * @param usage text of the help, whose first paragraph shows all arguments
 * @param permissions place that lists the permissions which the command needs on AWS
 */
export async function runWithOptions<const T extends Options>(
  usage: string,
  options: T,
  command: (values: OptionValues<T>, positionals: string[]) => Promise<void> | void,
  { allowPositionals = false, permissions = 'docs/policies/keys.json' } = {},
): Promise<void> {
  try {
    // npm removes the two dashes before the options. pnpm passes them on, and Yarn plans to, so they are removed here.
    const args = process.argv.slice(process.argv[2] === '--' ? 3 : 2);
    if (args.includes('--help')) return console.log(usage);
    const { values, positionals, tokens } = parseArgs({
      args,
      allowPositionals: true,
      options,
      tokens: true,
    });
    const synopsis = usage.split('\n\n')[0]!.replaceAll(/\s+/g, ' ');
    const consumed = Object.keys(options).find(isConsumedByNpm);
    if (consumed !== undefined)
      throw new UsageError(
        `npm read --${consumed} itself, because two dashes are missing before the options. Usage: ${synopsis}`,
      );
    // The message does not quote positional arguments, because they may be API keys.
    if (positionals.length > 0 && !allowPositionals)
      throw new UsageError(`Invalid arguments. Usage, including the two dashes: ${synopsis}`);
    const empty = tokens.find((token) => token.kind === 'option' && token.value === '');
    if (empty?.kind === 'option')
      throw new UsageError(`--${empty.name} has an empty value. To see all options, append --help.`);
    useProxy();
    await command(values, positionals);
  } catch (error) {
    const message = explain(error as Error, permissions);
    if (message === undefined) throw error;
    console.error(message.split('\n').map(plain).join('\n'));
    process.exit(process.exitCode ?? 1);
  }
}

/** Returns whether npm consumed an option. Ignores `json` and `yes`, because npm's configuration can also set them. */
function isConsumedByNpm(option: string): boolean {
  const variable = `npm_config_${option.replaceAll('-', '_')}`;
  return process.env[variable] !== undefined && !['json', 'yes'].includes(option);
}

/** Returns the message for the operator, or undefined if the error is a bug. */
function explain(
  error: Error & { code?: string; $metadata?: unknown },
  permissions: string,
): string | undefined {
  const { code, name, message, $metadata } = error;
  if (error instanceof UsageError) return message;
  // Long words are shortened, because an unknown option can contain an API key.
  if (code?.startsWith('ERR_PARSE_ARGS')) {
    const problem = message.replaceAll(/ To specify a positional .*|(?<=\w{8})\w{20,}/gs, '');
    return plain(`${problem.replace(/\.$/, '')}. To see all options, append --help.`);
  }
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return `The disk is full (${message}). Free disk space, and run the command again.`;
  if (name.startsWith('AccessDenied'))
    return `Your credentials are missing a permission. See ${permissions}. Cause: ${message.replace(/\.$/, '')}.`;
  const [, advice] = awsErrors.find(([pattern]) => pattern.test(`${code} ${name}: ${message}`)) ?? [];
  if (advice) return `${advice} Cause: ${message.replace(/\.$/, '')}.`;
  return $metadata ? message : undefined;
}

const awsErrors: [pattern: RegExp, advice: string][] = [
  [/: Region (is missing|not accepted)/, 'Set AWS_REGION to the region of the stage, such as eu-central-1.'],
  [
    /^(EAI_AGAIN|ECONN(REFUSED|RESET)|E(HOST|NET)UNREACH|ENOTFOUND|EPROTO|ERR_PROXY_\w+|ETIMEDOUT) /,
    'AWS cannot be reached. Check your network, AWS_REGION and, if you need a proxy, HTTPS_PROXY.',
  ],
  [/ CredentialsProviderError: /, 'Set your AWS credentials, for example with AWS_PROFILE.'],
  [
    // The pattern is broad, because the error names of DynamoDB, CloudFormation and STS differ. With the lookahead, the time
    // for a long word is proportional to its length.
    / (?=\w*(Token|Signature|RequestExpired|UnrecognizedClient))\w+: /,
    'AWS does not accept your credentials. Sign in again, or check AWS_PROFILE and AWS_REGION.',
  ],
];

/** Sentence for the help of commands whose options name paths. `pathOption` resolves such paths. */
export const relativePaths = 'Relative paths start in the folder of the project.';

/**
 * Returns the absolute path that an option names. Expands `~`, because shells do not expand it in `--data=~/x`.
 *
 * @throws UsageError if the path starts with the home folder of a named user, such as `~jane`
 */
export function pathOption(name: string, path: string): string {
  const [home] = /^~[^/\\]+/.exec(path) ?? [];
  if (home)
    throw new UsageError(
      `${name} must not start with ${home}, because ~ is expanded only for your home folder. Write the full path.`,
    );
  return resolve(
    projectRoot,
    path.replace(/^~/, () => homedir()),
  );
}

/**
 * Creates a folder and its parents, one after the other. With `recursive: true`, `mkdir` would never return for a
 * folder such as `/proc/x`, whose parent exists but cannot contain it, and would report ENOENT for a read-only disk.
 */
export function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) createFolder(parent);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process can have created the folder in the meantime.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Checks that a stage exists. @throws UsageError if `all`, the stages in infra/stages.ts, contains no such stage */
export function requireStage(name: string, all: object): void {
  if (Object.hasOwn(all, name)) return;
  const names = Object.keys(all).join(', ');
  throw new UsageError(`infra/stages.ts contains no stage ${name}. Choose one of its stages: ${names}.`);
}

/**
 * Checks the name of a stage. API keys, default base URLs and stack names contain this name. `account` is reserved for
 * the stack that all stages share, and `local` for the local service. A stage `v1` would look like the version in URLs.
 *
 * @throws UsageError if `name` is not valid. The message starts with `place` and omits `name`, because an operator can
 *   pass an API key by mistake.
 */
export function requireStageName(name: string, place: string): void {
  if (name.length > 30 || !new RegExp(`^(?!account$|local$|v\\d+$)${ANY_STAGE}$`).test(name))
    throw new UsageError(
      `${place} must be a letter and up to 29 more letters and digits, in lowercase, but not 'account', 'local' or a version such as 'v1'.`,
    );
}

/**
 * Returns the value of --stage, which names a deployed stage.
 *
 * @param all the stages in infra/stages.ts. Ephemeral stages are not among them.
 * @throws UsageError if the value is missing or cannot be the name of a stage
 */
export function deployedStageOption(stage: string | undefined, all: object): string {
  const names = Object.keys(all);
  if (!stage)
    throw new UsageError(`--stage is missing. Use a stage of infra/stages.ts, such as ${names[0]}.`);
  const place = `--stage must be a stage of infra/stages.ts (${names.join(', ')}) or another deployed stage, whose name`;
  requireStageName(stage, place);
  return stage;
}

/**
 * Returns `region`, or us-east-1 if it is undefined.
 *
 * @throws UsageError if `region` does not have the format of an AWS region, such as eu-central-1
 */
export function requireRegion(region = 'us-east-1'): string {
  if (/^[a-z]+(-[a-z]+)+-\d+$/.test(region)) return region;
  throw new UsageError(`Set AWS_REGION to a region such as eu-central-1, not to ${region}.`);
}

/**
 * Returns the region that the operator has configured for the CDK CLI, or undefined if there is none. The CLI then sets
 * CDK_DEFAULT_REGION to us-east-1, which therefore counts only if another variable confirms it.
 */
export function configuredRegion(): string | undefined {
  const { CDK_DEFAULT_REGION: region, AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  return region === 'us-east-1' ? (AWS_REGION ?? AWS_DEFAULT_REGION) : region;
}

/** Returns `text` as a number. @throws UsageError if `text` is not an integer from `least` to `most` */
export function integerOption(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  // The message does not quote `text`, because `text` can be an API key.
  throw new UsageError(`${name} must be an integer from ${least} to ${most}.`);
}
