/**
 * The files that a Markdown document prints: code blocks with a name after the language, by that name.
 *
 * @throws Error when two have the same name.
 */
export function filesPrintedIn(markdown: string): Map<string, string> {
  const blocks = Array.from(
    markdown.matchAll(/^```\w+ (?<name>\S+)\n(?<code>[\s\S]*?)^```$/gm),
    ({ groups }) => [groups!['name']!, groups!['code']!] as const,
  );
  const files = new Map(blocks);
  if (files.size < blocks.length) throw new Error('Two code blocks have the same name.');
  return files;
}

/** The code block without a name that has this text. */
export function blockWith(text: string, markdown: string): string {
  const blocks = Array.from(markdown.matchAll(/^```\w+\n([\s\S]*?)^```$/gm), ([, code]) => code!);
  const found = blocks.filter((code) => code.includes(text));
  if (found.length !== 1) throw new Error(`${found.length} code blocks have ${text}.`);
  return found[0]!;
}
