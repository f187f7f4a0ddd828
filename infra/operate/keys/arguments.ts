import { keyPattern } from '../../../shared/contract/authorization.ts';
import { keyStates } from '../../../shared/storage/api-keys.ts';
import { type OptionValues, UsageError } from '../../command.ts';

const OWNER = new RegExp(`^(?!.*${keyPattern()})(?=.*\\S)(?!-)[^\\p{C}\\p{Zl}\\p{Zp}]{1,100}$`, 'u');
const STATE = new RegExp(`^(${keyStates.join('|')})$`);
export const DURATION = /^[1-9]\d{0,4}[dhm]$/;

function option<const T extends 'string' | 'boolean'>(type: T, help: string, pattern = /^/) {
  return { type, help, pattern };
}

/** Options of all actions. Help and error messages contain the options' help texts. */
export const options = {
  stage: option('string', 'stage of the keys: local, or a deployed stage such as staging'),
  data: option('string', 'data folder of the local service, or memory (default: the running service)'),
  owner: option('string', 'client that uses the key: 1 to 100 visible characters, no API key', OWNER),
  state: option('string', `state of the keys: ${keyStates.join(', ')} (default: any)`, STATE),
  expiring: option('string', 'time within which active keys expire, such as 30d', DURATION),
  overlap: option('string', 'time during which both keys work, such as 2d or 12h (default: 24h)', DURATION),
  'expires-in': option('string', 'lifetime of the new key, such as 90d, 12h or 30m', DURATION),
  yes: option('boolean', 'do not ask for confirmation'),
  json: option('boolean', 'print JSON'),
  quiet: option('boolean', 'print only the key'),
};

export type Values = OptionValues<typeof options>;

/** Actions with their arguments. An action accepts only the options in `usage`, and requires those before the first `[`. */
export const actions: Record<string, { does: string; usage: string }> = {
  issue: {
    does: 'Issues a key and shows it once. Without --expires-in, the key does not expire.',
    usage: '--stage STAGE --owner NAME [--data DIR] [--expires-in TIME] [--json | --quiet]',
  },
  list: {
    does: 'Lists keys, newest first.',
    usage: '--stage STAGE [--data DIR] [--owner NAME] [--state STATE] [--expiring TIME] [--json]',
  },
  rotate: {
    does: 'Issues a successor with the same lifetime, and lets the old key expire after an overlap.',
    usage: 'KEY_ID --stage STAGE [--data DIR] [--overlap TIME] [--expires-in TIME] [--json | --quiet]',
  },
  revoke: {
    does: 'Revokes a key permanently.',
    usage: 'KEY_ID --stage STAGE [--data DIR] [--yes] [--json]',
  },
};

const HELP = `npm run keys -- ACTION --stage STAGE [OPTION ...]

Manages the API keys of a stage. A deployed stage requires AWS credentials and AWS_REGION. In scripts, use
npm run --silent, so that npm prints no output of its own. For details, see docs/api-keys.md.

${Object.entries(actions)
  .map(([action, { does }]) => `  ${action.padEnd(6)}  ${does}`)
  .join('\n')}

To list the options of an action, run npm run keys -- ACTION --help.`;

/** Returns the action's help or general help. In `words`, the action can follow values of options that npm consumed. */
export function helpFor(words: string[]): string {
  const action = words.find((word) => Object.hasOwn(actions, word));
  if (!action) return HELP;
  const { does, usage } = actions[action]!;
  const accepted = Object.entries(options).filter(([name]) => usage.includes(`--${name}`));
  const list = accepted.map(([name, { help }]) => `  --${name.padEnd(10)}  ${help}`);
  return `npm run keys -- ${action} ${usage}\n\n${does}\n\n${list.join('\n')}`;
}

/** @throws UsageError if an argument is missing or invalid. No message quotes an argument, which may be an API key. */
export function requireValid(action: string, values: Values, operands: string[]): void {
  if (!Object.hasOwn(actions, action))
    throw new UsageError(`The action must be one of ${Object.keys(actions).join(', ')}.`);
  const { usage } = actions[action]!;
  const [required = ''] = usage.split('[');
  for (const [name, { help, pattern }] of Object.entries(options)) {
    const value = values[name as keyof Values];
    if (value !== undefined && !usage.includes(`--${name}`))
      throw new UsageError(`The action ${action} has no option --${name}.`);
    if (value === undefined ? required.includes(`--${name}`) : !pattern.test(`${value}`))
      throw new UsageError(`--${name} is ${value === undefined ? 'missing' : 'invalid'}. It is the ${help}.`);
  }
  if (values.json && values.quiet) throw new UsageError('--json and --quiet cannot be combined.');
  const hasKeyId = usage.startsWith('KEY_ID');
  if (!(hasKeyId ? /^key_[0-9a-f]+$/ : /^$/).test(operands.join(' '))) {
    const rule = hasKeyId ? ' KEY_ID consists of key_ and hexadecimal digits.' : '';
    throw new UsageError(`Invalid arguments. Usage: npm run keys -- ${action} ${usage}.${rule}`);
  }
}

const UNIT_MILLISECONDS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** Returns the milliseconds in a valid duration, such as `90d`. */
export function milliseconds(text?: string): number | undefined {
  return text === undefined ? text : Number(text.slice(0, -1)) * UNIT_MILLISECONDS[text.at(-1)!]!;
}
