/** Returns a Markdown table. `alignment` applies to all columns except the first. */
export function markdownTable(head: string[], rows: string[][], alignment = '---:'): string {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : alignment)), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
