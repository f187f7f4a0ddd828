import { InvalidArgumentError } from 'commander';
import { keyPattern } from '../../../shared/contract/authorization.ts';
import { UsageError } from '../command.ts';

// The values of arguments on the command line for keys.

const UNIT_MILLISECONDS = { d: 86_400_000, h: 3_600_000, m: 60_000 } as const;

/** A name that neither breaks the lines of a list nor steers a terminal. */
export function readOwner(owner: string): string {
  if (new RegExp(keyPattern()).test(owner)) throw new InvalidArgumentError('It takes a name, and no key.');
  if (/^(?=.*\S)(?!-)[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(owner)) return owner.trim();
  throw new InvalidArgumentError('It takes a name of 1 to 100 characters, all of them visible.');
}

/** Milliseconds. */
export function readDuration(duration: string): number {
  const [, amount, unit] = /^([1-9]\d{0,4})([dhm])$/.exec(duration) ?? [];
  if (amount) return Number(amount) * UNIT_MILLISECONDS[unit as keyof typeof UNIT_MILLISECONDS];
  throw new InvalidArgumentError('It takes a number of days, hours or minutes, such as 90d.');
}

export function readKeyId(keyId: string): string {
  if (/^key_[0-9a-f]+$/.test(keyId)) return keyId;
  // Not quoted, as it may be a key.
  throw new UsageError('The id of a key is key_ and digits, as list shows it.');
}
