/**
 * The row of a table that a test has for each operation, function or field.
 *
 * @param hint names the file and what is to be added there
 * @throws Error with that sentence when the row is missing.
 */
export function rowOf<Row>(rows: Partial<Record<string, Row>>, name: string, hint: string): Row {
  const row = rows[name];
  if (row === undefined) throw new Error(`There is no row for ${name}: ${hint}.`);
  return row;
}
