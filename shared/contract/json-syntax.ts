const VALUE = 'a value';
const NAME = 'a name in double quotes';
const COLON = 'a colon';
const COMMA = 'a comma';
const END = 'the end of the text';

/** White space, and a token if there is one (RFC 8259). The last group is the quote that closes a string, or empty. */
const TOKENS =
  /[\t\n\r ]*([{}[\]:,]|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*("?))?/gy;

/** What a token may be, by its first character. Any other token is a value. */
const ROLES: Record<string, string[]> = {
  '"': [VALUE, NAME],
  ':': [COLON],
  ',': [COMMA],
  '}': ['}'],
  ']': [']'],
};

/**
 * The first error in a text that is not JSON, or undefined if it is JSON. The words are our own, because those of
 * `JSON.parse` change with the version of Node.
 *
 * @returns for example "line 1, column 12: expected a comma or '}', not 'x'"; columns count Unicode characters
 */
export function findJsonError(text: string): string | undefined {
  const closers: string[] = [];
  let expected = [VALUE];
  for (const { 0: match, 1: token = '', 2: quote, index } of text.matchAll(TOKENS)) {
    const end = index + match.length;
    const start = end - token.length;
    const roles = token === '' ? [text[start] ?? END] : (ROLES[token.charAt(0)] ?? [VALUE]);
    const role = roles.find((one) => expected.includes(one));
    if (!role) return errorAt(text, start, expected);
    if (quote === '') return errorAt(text, end, ['a closing double quote or a valid escape']);

    if (role === token) closers.pop();
    if (token === '{') closers.push('}');
    if (token === '[') closers.push(']');
    expected = following(role, token, closers.at(-1));
  }
  return undefined;
}

/** @param closer what closes the innermost open object or array */
function following(role: string, token: string, closer: string | undefined): string[] {
  const member = closer === '}' ? NAME : VALUE;
  if (role === NAME) return [COLON];
  if (role === COLON) return [VALUE];
  if (role === COMMA) return [member];
  if (!closer) return [END];
  return token === '{' || token === '[' ? [member, closer] : [COMMA, closer];
}

function errorAt(text: string, index: number, expected: string[]): string {
  const lines = text.slice(0, index).split(/\r\n|[\r\n]/);
  const column = Array.from(lines.at(-1)!).length + 1;
  const words = expected.map((one) => (one.length === 1 ? `'${one}'` : one)).join(' or ');
  return `line ${lines.length}, column ${column}: expected ${words}, not ${nameOf(text.codePointAt(index))}`;
}

function nameOf(codePoint: number | undefined): string {
  if (codePoint === undefined) return END;
  if (codePoint === 0xfeff) return 'a byte order mark';
  const character = String.fromCodePoint(codePoint);
  return /[!-~]/.test(character)
    ? `'${character}'`
    : `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}
