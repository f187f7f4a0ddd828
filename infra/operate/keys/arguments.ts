import { keyPattern } from '../../../shared/contract/authorization.ts';
import { keyStates } from '../../../shared/storage/api-keys.ts';
import { UsageError } from '../../command.ts';

/** Options of all actions, with their help texts. */
export const options = {
  stage: { type: 'string', help: 'stage of the keys: local, or a deployed stage such as staging' },
  data: { type: 'string', help: 'data folder of the local service, or memory (default: the running one)' },
  owner: { type: 'string', help: 'client that uses the key, as 1 to 100 visible characters without a key' },
  state: { type: 'string', help: `state of the keys: ${keyStates.join(', ')} (default: any)` },
  overlap: { type: 'string', help: 'time during which both keys work, such as 2d or 12h (default: 24h)' },
  'expires-in': { type: 'string', help: 'lifetime of the new key, such as 90d, 12h or 30m' },
  yes: { type: 'boolean', help: 'do not ask for confirmation' },
  json: { type: 'boolean', help: 'print JSON' },
  quiet: { type: 'boolean', help: 'print only the key' },
} as const;

/** Actions with their arguments. An action accepts only the options in `usage`, and requires those before the first `[`. */
export const actions: Record<string, { does: string; usage: string }> = {
  issue: {
    does: 'issues a key and shows it once. Without --expires-in, the key does not expire',
    usage: '--stage STAGE --owner NAME [--data DIR] [--expires-in TIME] [--json | --quiet]',
  },
  list: {
    does: 'lists keys, newest first',
    usage: '--stage STAGE [--data DIR] [--owner NAME] [--state STATE] [--json]',
  },
  rotate: {
    does: 'issues a successor with the same lifetime, and lets the old key expire after an overlap',
    usage: 'KEY_ID --stage STAGE [--data DIR] [--overlap TIME] [--expires-in TIME] [--json | --quiet]',
  },
  revoke: {
    does: 'revokes a key permanently',
    usage: 'KEY_ID --stage STAGE [--data DIR] [--yes] [--json]',
  },
};

// Control characters in an owner could break the lines of a list.
const OWNER = new RegExp(`^(?!.*${keyPattern()})(?=.*\\S)(?!-)[^\\p{C}\\p{Zl}\\p{Zp}]{1,100}$`, 'u');
const DURATION = /^[1-9]\d{0,4}[dhm]$/;
const STATE = new RegExp(`^(${keyStates.join('|')})$`);
const patterns: Record<string, RegExp> = {
  owner: OWNER,
  state: STATE,
  overlap: DURATION,
  'expires-in': DURATION,
};

/** Returns the help text of an action, or of the whole command if there is no such action. */
export function helpFor(name = ''): string {
  if (!Object.hasOwn(actions, name)) {
    const list = Object.entries(actions).map(([action, { does }]) => `  ${action.padEnd(6)}  ${does}`);
    return `npm run keys -- ACTION --stage STAGE [OPTION ...]

Manages the API keys of a stage. A deployed stage requires AWS credentials and AWS_REGION. In scripts, use
npm run --silent, so that npm prints no output of its own. For details, see docs/api-keys.md.

${list.join('\n')}

To list the options of an action, add --help to the action.`;
  }
  const { does, usage } = actions[name]!;
  const accepted = Object.entries(options).filter(([option]) => usage.includes(`--${option}`));
  const list = accepted.map(([option, { help }]) => `  --${option.padEnd(10)}  ${help}`);
  return `npm run keys -- ${name} ${usage}\n\nThis action ${does}.\n\n${list.join('\n')}`;
}

/** @throws UsageError if an argument is missing or invalid. The message quotes no argument, because it may be an API key. */
export function requireValid(
  name: string,
  values: Record<string, string | boolean | undefined>,
  operands: string[],
): void {
  if (!Object.hasOwn(actions, name)) {
    throw new UsageError(`The action must be one of ${Object.keys(actions).join(', ')}.`);
  }
  const { usage } = actions[name]!;
  const [required = ''] = usage.split('[');
  for (const [option, { help }] of Object.entries(options)) {
    const value = values[option];
    if (value === undefined && required.includes(`--${option}`))
      throw new UsageError(`--${option} is missing.`);
    if (value !== undefined && !usage.includes(`--${option}`))
      throw new UsageError(`The action ${name} has no option --${option}.`);
    if (value !== undefined && patterns[option]?.test(String(value)) === false)
      throw new UsageError(`--${option} is invalid. It must be the ${help}.`);
  }
  if (values['json'] && values['quiet']) throw new UsageError('--json and --quiet cannot be combined.');
  const expected = required.startsWith('KEY_ID') ? /^key_[0-9a-f]+$/ : /^$/;
  if (!expected.test(operands.join(' '))) {
    const rule = required.startsWith('KEY_ID') ? ' KEY_ID consists of key_ and hexadecimal digits.' : '';
    throw new UsageError(`Invalid arguments. Usage: npm run keys -- ${name} ${usage}.${rule}`);
  }
}

const UNIT_MILLISECONDS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** Converts a valid duration, such as `90d`. */
export function milliseconds(text?: string): number | undefined {
  return text === undefined ? text : Number(text.slice(0, -1)) * UNIT_MILLISECONDS[text.at(-1)!]!;
}
