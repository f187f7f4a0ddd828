/** A table in Markdown. @param alignment of the columns after the first @default - right, for numbers */
export function markdownTable(head: string[], rows: string[][], alignment = '---:'): string {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : alignment)), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
