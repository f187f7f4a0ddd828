import * as fc from 'fast-check';
import { type Case, characterOf, type Pairs } from './cases.ts';
import { create } from './creates.ts';
import { get, list } from './reads.ts';

/** Headers that mean nothing here; those of HTTP itself only in ways that leave a request as it is. */
export const otherHeaders: fc.Arbitrary<Pairs> = fc.array(
  fc.oneof(
    fc.constantFrom<Pairs>(
      ['Accept', 'text/html'],
      ['Accept-Encoding', 'gzip, br'],
      ['Cookie', 'a=b; c'],
      ['Deprecation', 'x'],
      ['Forwarded', 'for="_x"'],
      ['If-None-Match', '*'],
      ['Range', 'bytes=0-0'],
      ['User-Agent', ''],
      ['X-Forwarded-For', '1.2.3.4, x'],
      ['X-HTTP-Method-Override', 'DELETE'],
      ['X-Amzn-RequestId', 'x'],
      ['__proto__', 'x'],
      ['constructor', 'x'],
    ),
    fc.tuple(
      fc.string({ unit: characterOf('az09!#$%&*+-.^_`|~'), maxLength: 8 }).map((name) => `X-${name}`),
      fc.string({ unit: characterOf('az09 \t"\\,;=<>%éÿ'), maxLength: 20 }),
    ),
  ),
  { maxLength: 4 },
);

export const anyCase: fc.Arbitrary<Case> = fc.oneof(
  { arbitrary: create, weight: 5 },
  { arbitrary: list, weight: 2 },
  { arbitrary: get, weight: 2 },
);

/** HTTP compares names without regard to case. */
export const letterCase = fc.constantFrom<((name: string) => string)[]>(
  (name) => name,
  (name) => name.toLowerCase(),
  (name) => name.toUpperCase(),
);

export function renamed(pairs: Pairs, rename: (name: string) => string): Pairs {
  return pairs.map(([name, value]) => [rename(name), value]);
}
