import { randomInt } from 'node:crypto';
import { generateApiKey } from '../../shared/storage/api-keys.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Length of a fragment. Fragments must be short because some error messages quote only a few characters. */
const FRAGMENT_CHARACTERS = 9;
/** Length of a fragment of digits, which is longer because timestamps contain short sequences of digits by chance. */
const FRAGMENT_DIGITS = 15;

function mark(): string {
  return Array.from({ length: 24 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Unique values by the part of a request that contains the value. */
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

/** Returns the names of the values in `among` that occur in `text` completely or as a fragment. */
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

/** Returns the encodings of `text` that a log can contain. For Base64, the length must be a multiple of three. */
function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  return [text, hex, hex.replaceAll(/..(?!$)/g, '$& '), bytes.join(','), bytes.toString('base64')];
}
