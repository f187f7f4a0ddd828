import { UsageError } from '../command.ts';

/** Returns a Markdown table. `alignment` applies to all columns except the first. */
export function markdownTable(head: string[], rows: string[][], alignment = '---:'): string {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : alignment)), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** Returns a Markdown list with lines of at most 120 characters. */
export function markdownList(items: string[]): string {
  return items.map((item) => `- ${item.match(/\S.{0,117}(?=\s|$)/g)!.join('\n  ')}\n`).join('');
}

/** Returns a code block. @param info text after the opening fence, such as `sh` */
export function codeBlock(info: string, code: string): string {
  return `\`\`\`${info}\n${code}\n\`\`\`\n`;
}

/**
 * Returns `text` with each part between its markers, `<!-- generated: NAME -->` and `<!-- end -->`. A part consists of
 * whole lines, such as those of a table or a list.
 *
 * @throws UsageError that names `file` if a marker is missing
 */
export function withParts(file: string, text: string, parts: Record<string, string>): string {
  return Object.entries(parts).reduce((document, [name, part]) => {
    const marker = `<!-- generated: ${name} -->`;
    const [before, after] = document.split(marker);
    const end = after?.indexOf('<!-- end -->') ?? -1;
    if (end < 0) throw new UsageError(`${file} must contain ${marker} and <!-- end -->. Add the markers.`);
    return `${before}${marker}\n${part}${after!.slice(end)}`;
  }, text);
}
