import { randomInt } from 'node:crypto';
import { generateApiKey } from '../../shared/storage/api-keys.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Long enough to never occur by chance, and short because some error messages quote only a few characters. */
const FRAGMENT_CHARACTERS = 9;
/** Minimum length of digits, because timestamps contain shorter ones by chance. */
const FRAGMENT_DIGITS = 15;

function mark(): string {
  return Array.from({ length: 24 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Values that occur nowhere else, by the part of a request that contains them. */
export const secrets = {
  key: generateApiKey('staging'),
  otherKey: generateApiKey('staging'),
  name: mark(),
  member: mark(),
  categoryId: `9${Array.from({ length: 17 }, () => randomInt(10)).join('')}`,
  header: mark(),
  idempotencyKey: mark(),
  query: mark(),
};

/** Returns the names of the marked values that a text contains, in whole or in part. */
export function findSecrets(text: string, among: Record<string, string> = secrets): string[] {
  return Object.keys(among).filter((name) =>
    fragmentsOf(among[name]!).some((fragment) => encodingsOf(fragment).some((code) => text.includes(code))),
  );
}

function fragmentsOf(secret: string): string[] {
  const random = secret.replace(/^pets_[a-z]+_/, '');
  const length = /^\d+$/.test(random) ? FRAGMENT_DIGITS : FRAGMENT_CHARACTERS;
  return Array.from({ length: random.length - length + 1 }, (_, start) =>
    random.slice(start, start + length),
  );
}

/** Returns the encodings in which a text may be logged. Base64 needs a length that is a multiple of three. */
function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  return [text, hex, hex.replaceAll(/..(?!$)/g, '$& '), bytes.join(','), bytes.toString('base64')];
}
