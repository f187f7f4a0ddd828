import { InvalidArgumentError } from 'commander';
import { keyPattern } from '../../../shared/contract/authorization.ts';
import { UsageError } from '../../command.ts';

const UNIT_MILLISECONDS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000 };

/** Parses an owner. Rejects control characters, which could break the lines of a list. */
export function readOwner(owner: string): string {
  if (new RegExp(keyPattern()).test(owner)) throw new InvalidArgumentError('It must be a name, not a key.');
  if (/^(?=.*\S)(?!-)[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(owner)) return owner.trim();
  throw new InvalidArgumentError('It must be a name of 1 to 100 visible characters.');
}

/** Converts a duration such as `90d` to milliseconds. */
export function readDuration(duration: string): number {
  const [, amount, unit] = /^([1-9]\d{0,4})([dhm])$/.exec(duration) ?? [];
  if (amount && unit) return Number(amount) * UNIT_MILLISECONDS[unit]!;
  throw new InvalidArgumentError('It must be a number of days, hours or minutes, such as 90d, 12h or 30m.');
}

export function readKeyId(keyId: string): string {
  if (/^key_[0-9a-f]+$/.test(keyId)) return keyId;
  // The message does not quote the argument, because it may be an API key.
  throw new UsageError('A key id consists of key_ and hexadecimal digits. See npm run keys -- list.');
}
