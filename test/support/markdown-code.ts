/** The code blocks of a Markdown document: line of the opening fence, words after it, and code without its indentation. */
export function codeBlocksIn(markdown: string): { line: number; info: string; code: string }[] {
  const fenced = /^(?<indent> *)```(?<info>.*)\n(?<code>[^]*?)^\k<indent>```$/gm;
  return Array.from(markdown.matchAll(fenced), ({ index, groups }) => ({
    line: markdown.slice(0, index).split('\n').length,
    info: groups!['info']!,
    code: groups!['code']!.replaceAll(new RegExp(`^${groups!['indent']}`, 'gm'), ''),
  }));
}

/**
 * The files that a Markdown document prints: code blocks with a name after the language, by that name.
 *
 * @throws Error if two have the same name.
 */
export function filesPrintedIn(markdown: string): Map<string, string> {
  const blocks = codeBlocksIn(markdown).flatMap(({ info, code }) => {
    const [, name] = /^\w+ (\S+\.\w+)$/.exec(info) ?? [];
    return name === undefined ? [] : [[name, code] as const];
  });
  const files = new Map(blocks);
  if (files.size < blocks.length) throw new Error('Two code blocks have the same name.');
  return files;
}

/** The code block without a file name that has this text. */
export function blockWith(text: string, markdown: string): string {
  const found = codeBlocksIn(markdown).filter(({ info, code }) => !info.includes('.') && code.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} code blocks have ${text}.`);
  return found[0]!.code;
}
