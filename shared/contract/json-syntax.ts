const VALUE = 'a value';
const NAME = 'a name in double quotes';
const COLON = 'a colon';
const COMMA = 'a comma';
const END = 'the end of the text';

/** Matches white space and an optional token (RFC 8259). The last group is empty if a string has no closing quote. */
const TOKENS =
  /[\t\n\r ]*([{}[\]:,]|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[Ee][+-]?\d+)?|"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*("?))?/gy;

/** Possible roles of a token by its first character. Tokens with a different first character are values. */
const ROLES: Record<string, string[]> = {
  '"': [VALUE, NAME],
  ':': [COLON],
  ',': [COMMA],
  '}': ['}'],
  ']': [']'],
};

/**
 * Returns the first syntax error in a text, or undefined if the text is valid JSON. The messages of `JSON.parse` are not
 * used, because they depend on the Node version.
 *
 * @returns text such as "line 1, column 12: expected a comma or '}', not 'x'", where columns are counted in Unicode characters
 */
export function findJsonError(text: string): string | undefined {
  const closers: string[] = [];
  let expected = [VALUE];
  for (const { 0: match, 1: token = '', 2: quote, index } of text.matchAll(TOKENS)) {
    const end = index + match.length;
    const start = end - token.length;
    const roles = token === '' ? [text[start] ?? END] : (ROLES[token.charAt(0)] ?? [VALUE]);
    const role = roles.find((possible) => expected.includes(possible));
    if (!role) return errorAt(text, start, expected);
    if (quote === '') return errorAt(text, end, ['a closing double quote or a valid escape']);

    if (role === token) closers.pop();
    if (token === '{') closers.push('}');
    if (token === '[') closers.push(']');
    expected = following(role, token, closers.at(-1));
  }
  return undefined;
}

/** @param closer bracket that closes the innermost open object or array, or undefined if none is open */
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
  const alternatives = expected.map((role) => (role.length === 1 ? `'${role}'` : role)).join(' or ');
  return `line ${lines.length}, column ${column}: expected ${alternatives}, not ${nameOf(text.codePointAt(index))}`;
}

function nameOf(codePoint: number | undefined): string {
  if (codePoint === undefined) return END;
  if (codePoint === 0xfeff) return 'a byte order mark';
  const character = String.fromCodePoint(codePoint);
  return /[!-~]/.test(character)
    ? `'${character}'`
    : `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}
