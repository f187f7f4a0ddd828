declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): unknown;
  }
}

/** Longest integer kept exact: an int64 has at most 19 digits. Bounding it keeps BigInt from chewing megabytes. */
const MAX_DIGITS = 19;

/**
 * JSON (RFC 8259) in which every number that is an integer of at most 19 digits arrives as a bigint, exact,
 * however it is spelled (`5`, `5.0`, `5e0`). Every other number arrives as a number.
 *
 * @throws SyntaxError when the text is not JSON, RangeError when it nests deeper than the parser's stack.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) => (source && exactInteger(source)) ?? value);
}

/** JSON with bigints as plain integers. @param indent spaces per level @default - all on one line */
export function stringifyJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, member: unknown) => (typeof member === 'bigint' ? JSON.rawJSON(member.toString()) : member),
    indent,
  );
}

/** The value of a JSON number as a bigint if it is an integer of at most 19 digits, undefined for any other JSON text. */
function exactInteger(source: string): bigint | undefined {
  const [, sign, whole, fraction = '', exponent = 0] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  if (whole === undefined) return undefined;

  const digits = trimZeros(whole + fraction);
  if (digits.significant === '') return 0n;
  const trailingZeros = Number(exponent) - fraction.length + digits.trailing;
  if (trailingZeros < 0 || digits.significant.length + trailingZeros > MAX_DIGITS) return undefined;
  return BigInt(`${sign}${digits.significant}${'0'.repeat(trailingZeros)}`);
}

/** Loops instead of patterns: `0+$` takes quadratic time on a long run of zeros that does not end the text. */
function trimZeros(digits: string): { significant: string; trailing: number } {
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start += 1;
  while (digits[end - 1] === '0') end -= 1;
  return { significant: digits.slice(start, end), trailing: digits.length - end };
}
