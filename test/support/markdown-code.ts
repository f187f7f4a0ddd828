/** Returns a document's code blocks. `line` is the line number of the opening fence, and `info` the text after it. */
export function codeBlocksIn(markdown: string): { line: number; info: string; code: string }[] {
  const fenced = /^(?<indent> *)```(?<info>.*)\n(?<code>[^]*?)^\k<indent>```$/gm;
  return Array.from(markdown.matchAll(fenced), ({ index, groups }) => ({
    line: markdown.slice(0, index).split('\n').length,
    info: groups!['info']!,
    code: groups!['code']!.replaceAll(new RegExp(`^${groups!['indent']}`, 'gm'), ''),
  }));
}

/** Returns the code block that contains `text`. @throws Error unless there is exactly one */
export function blockWith(text: string, markdown: string): string {
  const found = codeBlocksIn(markdown).filter(({ code }) => code.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} code blocks, not one, contain ${text}.`);
  return found[0]!.code;
}

/**
 * Returns a text with the changes of a code block of the kind `diff`. In the block, `-` precedes a line to remove, a
 * space precedes a line to keep, and `+` precedes a line to add. Lines to remove or keep have the same order as in the
 * text. Added lines follow the line before them, or are the first lines of the text.
 *
 * @throws Error if the text lacks a line to remove or keep
 */
export function withChanges(text: string, diff: string): string {
  const lines = text.split('\n');
  let position = 0;
  for (const [sign, ...characters] of diff.trimEnd().split('\n')) {
    const line = characters.join('');
    if (sign === '+') {
      lines.splice(position, 0, line);
      position += 1;
      continue;
    }
    position = lines.indexOf(line, position);
    if (position < 0) throw new Error(`The file does not contain the line ${line}. Correct the document.`);
    if (sign === '-') lines.splice(position, 1);
    else position += 1;
  }
  return lines.join('\n');
}

/** Returns a Markdown document without its code blocks. */
export function proseOf(markdown: string): string {
  return markdown.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
}
