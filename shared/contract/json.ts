declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): unknown;
  }
}

/** Maximum number of digits in an int64. The limit prevents slow conversions of very long numbers to BigInt. */
const MAX_DIGITS = 19;

/**
 * Parses JSON (RFC 8259). Integers of up to 19 digits in any notation (`5`, `5.0`, `5e0`) become bigints. All other
 * numbers become doubles.
 *
 * @throws SyntaxError if the text is not JSON, or RangeError if the text is nested too deeply for the parser's stack.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, (_key, value, { source }) => (source && exactInteger(source)) ?? value);
}

/** Returns JSON in which bigints are plain integers. @param indent spaces per level @default - JSON on a single line */
export function stringifyJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, member: unknown) => (typeof member === 'bigint' ? JSON.rawJSON(member.toString()) : member),
    indent,
  );
}

/** Returns the value of a JSON number that is an integer of up to 19 digits, or undefined for any other JSON text. */
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

/** Removes zeros with loops, because the pattern `0+$` takes quadratic time if another digit follows a long run of zeros. */
function trimZeros(digits: string): { significant: string; trailing: number } {
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start += 1;
  while (digits[end - 1] === '0') end -= 1;
  return { significant: digits.slice(start, end), trailing: digits.length - end };
}
