type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

declare global {
  interface JSON {
    parse(text: string, reviver: Reviver): unknown;
    rawJSON(text: string): unknown;
  }
}

/** Maximum number of digits in an int64. The limit prevents slow conversions of very long numbers to BigInt. */
const MAX_DIGITS = 19;

/**
 * Returns the value of a JSON text (RFC 8259). Integers of up to 19 digits in any notation (`5`, `5.0`, `5e0`) become
 * bigints, so that an int64 stays exact. All other numbers become doubles.
 *
 * @example parseJson('[9007199254740993, 0.5]') // [9007199254740993n, 0.5]
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

  const digits = (whole + fraction).replace(/^0+/, '');
  // Without the lookbehind, the replacement would take quadratic time if another digit follows a long run of zeros.
  const significant = digits.replace(/(?<!0)0+$/, '');
  if (significant === '') return 0n;
  const trailingZeros = Number(exponent) - fraction.length + digits.length - significant.length;
  if (trailingZeros < 0 || significant.length + trailingZeros > MAX_DIGITS) return undefined;
  return BigInt(`${sign}${significant}${'0'.repeat(trailingZeros)}`);
}
