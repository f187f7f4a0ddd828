/**
 * Looks up what a test must know of each operation or function.
 *
 * @param hint the file, and what to add there.
 * @throws Error with the hint if the row is missing.
 */
export function rowOf<Row>(rows: Partial<Record<string, Row>>, name: string, hint: string): Row {
  const row = rows[name];
  if (row === undefined) throw new Error(`There is no row for ${name}: ${hint}.`);
  return row;
}
