import { type OperationId, operations } from '../../shared/contract/operations.ts';
import type { Handler } from '../../shared/runtime/endpoint.ts';

/** The module of a function, by its name as an operation (`listPets`) or in its resources (`ListPets`). */
export function moduleOf(name: string): string {
  return name.replaceAll(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

/** The handler of every operation. They read some of their environment when they are imported. */
export async function importHandlers(): Promise<Record<OperationId, Handler>> {
  const handlers = Object.keys(operations).map(async (id): Promise<[string, Handler]> => [
    id,
    ((await import(`../../functions/${moduleOf(id)}.ts`)) as { handler: Handler }).handler,
  ]);
  return Object.fromEntries(await Promise.all(handlers)) as Record<OperationId, Handler>;
}

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
