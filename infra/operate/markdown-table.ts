/** A table in Markdown, whose columns after the first are numbers. */
export function markdownTable(head: string[], rows: string[][]): string {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
