import { keyPattern, keyStates } from '../../../shared/api-keys.ts';
import { type OptionValues, relativePaths, UsageError } from '../../command.ts';

interface Option {
  type: 'string' | 'boolean';
  /** Placeholder for the option's value in the usage line. */
  value?: string;
  /** Meaning of the option, for the help and for error messages. */
  help: string;
  isValid?: (value: string) => boolean;
}

/** Options of all actions. */
export const options = {
  stage: {
    type: 'string',
    value: 'STAGE',
    help: 'stage of the keys: local, or a deployed stage such as staging',
  },
  data: {
    type: 'string',
    value: 'DIR',
    help: 'data folder of the local service, or memory (default: the running service)',
  },
  owner: {
    type: 'string',
    value: 'NAME',
    help: 'client that uses the key: 1 to 100 visible characters, no API key',
    isValid: isOwner,
  },
  state: {
    type: 'string',
    value: 'STATE',
    help: `state of the keys: ${keyStates.join(', ')} (default: any)`,
    isValid: (state) => keyStates.some((known) => known === state),
  },
  expiring: {
    type: 'string',
    value: 'TIME',
    help: 'time within which active keys expire, such as 30d',
    isValid: isDuration,
  },
  overlap: {
    type: 'string',
    value: 'TIME',
    help: 'time during which both keys work, such as 2d or 12h (default: 24h)',
    isValid: isDuration,
  },
  'expires-in': {
    type: 'string',
    value: 'TIME',
    help: 'lifetime of the new key, such as 90d, 12h or 30m',
    isValid: isDuration,
  },
  'read-only': { type: 'boolean', help: 'reject the key in operations that write' },
  yes: { type: 'boolean', help: 'do not ask for confirmation' },
  json: { type: 'boolean', help: 'print JSON' },
  quiet: { type: 'boolean', help: 'print only the key' },
} as const satisfies Record<string, Option>;

export type Values = OptionValues<typeof options>;
type OptionName = keyof typeof options;

interface Action {
  does: string;
  /** Whether the action needs the id of a key. */
  keyId?: boolean;
  required: OptionName[];
  optional: OptionName[];
  /** Options that select the format of the output. At most one of them can be set. */
  formats: OptionName[];
}

/** Actions with the options that they accept, in the order in which the help lists the options. */
export const actions: Record<string, Action> = {
  issue: {
    does: 'Issues a key and shows it once. Without --expires-in, the key does not expire.',
    required: ['stage', 'owner'],
    optional: ['data', 'expires-in', 'read-only'],
    formats: ['json', 'quiet'],
  },
  list: {
    does: 'Lists keys, newest first.',
    required: ['stage'],
    optional: ['data', 'owner', 'state', 'expiring'],
    formats: ['json'],
  },
  rotate: {
    does: 'Issues a successor, by default with the same lifetime, and lets the old key expire after an overlap.',
    keyId: true,
    required: ['stage'],
    optional: ['data', 'overlap', 'expires-in'],
    formats: ['json', 'quiet'],
  },
  revoke: {
    does: 'Revokes a key permanently.',
    keyId: true,
    required: ['stage'],
    optional: ['data', 'yes'],
    formats: ['json'],
  },
};

const HELP = `npm run keys -- ACTION --stage STAGE [OPTION ...]

Manages the API keys of a stage. A deployed stage requires AWS credentials and AWS_REGION. In scripts, use
npm run --silent, so that npm prints no output of its own. For details, see docs/api-keys.md.

${Object.entries(actions)
  .map(([action, { does }]) => `  ${action.padEnd(6)}  ${does}`)
  .join('\n')}

To list the options of an action, run npm run keys -- ACTION --help.`;

/**
 * Returns the help of the action in `words`, or general help if there is none. The action need not be the first word,
 * because npm can consume options and pass only their values on.
 */
export function helpFor(words: string[]): string {
  const action = words.find((word) => Object.hasOwn(actions, word));
  if (!action) return HELP;
  const { does, required, optional, formats } = actions[action]!;
  const list = [...required, ...optional, ...formats].map(
    (name) => `  --${name.padEnd(10)}  ${options[name].help}`,
  );
  return `${usageOf(action)}\n\n${does}\n\n${list.join('\n')}\n\n${relativePaths}`;
}

/** Returns the usage line of an action, such as `npm run keys -- revoke KEY_ID --stage STAGE [--yes] [--json]`. */
function usageOf(action: string): string {
  const { keyId, required, optional, formats } = actions[action]!;
  const words = [
    action,
    ...(keyId ? ['KEY_ID'] : []),
    ...required.map(withValue),
    ...optional.map((name) => `[${withValue(name)}]`),
    `[${formats.map(withValue).join(' | ')}]`,
  ];
  return `npm run keys -- ${words.join(' ')}`;
}

function withValue(name: OptionName): string {
  const { value }: Option = options[name];
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/**
 * Checks the arguments of an action.
 *
 * @throws UsageError if an argument is missing or invalid. The message quotes only names of actions and options,
 *   because any other argument can be an API key.
 */
export function requireValid(action: string, values: Values, operands: string[]): void {
  if (!Object.hasOwn(actions, action))
    throw new UsageError(`The action must be one of ${Object.keys(actions).join(', ')}.`);
  const { keyId, required, optional, formats } = actions[action]!;
  const accepted = [...required, ...optional, ...formats];
  for (const name of Object.keys(values) as OptionName[]) {
    if (!accepted.includes(name)) throw new UsageError(`The action ${action} has no option --${name}.`);
  }
  for (const name of accepted) {
    const { help, isValid = () => true }: Option = options[name];
    const value = values[name];
    if (value === undefined && required.includes(name))
      throw new UsageError(`--${name} is missing. It is the ${help}.`);
    if (value !== undefined && !isValid(`${value}`))
      throw new UsageError(`--${name} is invalid. It is the ${help}.`);
  }
  if (formats.filter((name) => values[name]).length > 1)
    throw new UsageError(`${formats.map((name) => `--${name}`).join(' and ')} cannot be combined.`);

  const [id, ...others] = operands;
  if (!keyId && id !== undefined) throw new UsageError(`Invalid arguments. Usage: ${usageOf(action)}.`);
  if (keyId && (others.length > 0 || !/^key_[0-9a-f]+$/.test(id ?? '')))
    throw new UsageError(
      `Invalid arguments. Usage: ${usageOf(action)}. KEY_ID consists of key_ and hexadecimal digits.`,
    );
}

/**
 * Returns whether `name` is valid as the name of a key's owner. The name must not contain an API key, because operators
 * can paste one by mistake.
 */
function isOwner(name: string): boolean {
  const isVisible = /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(name) && name.trim() !== '';
  // A name that starts with a dash, such as `--json`, is probably the next option after an `--owner` without a name.
  return isVisible && !name.startsWith('-') && !new RegExp(keyPattern()).test(name);
}

/** Returns whether `text` is a duration of days, hours or minutes, such as `90d`. */
function isDuration(text: string): boolean {
  return /^[1-9]\d{0,4}[dhm]$/.test(text);
}

const UNIT_MILLISECONDS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** Returns the milliseconds in a valid duration, such as `90d`. */
export function milliseconds(text?: string): number | undefined {
  return text === undefined ? text : Number(text.slice(0, -1)) * UNIT_MILLISECONDS[text.at(-1)!]!;
}
