/** Renders a Markdown table. @param alignment the alignment of all columns but the first @default - right */
export function markdownTable(head: string[], rows: string[][], alignment = '---:'): string {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : alignment)), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
