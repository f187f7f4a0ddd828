import * as v from 'valibot';
import type { LambdaFunction } from '../lambda/lambda.ts';

/** The stack's functions by logical id. */
export type Functions = ReadonlyMap<string, LambdaFunction>;

/**
 * Invokes the function in an integration URI.
 *
 * @returns the function's result, or undefined if the function fails or the result violates `schema`
 */
export async function invoke<T>(
  functions: Functions,
  uri: string,
  event: object,
  schema: v.GenericSchema<unknown, T>,
): Promise<T | undefined> {
  const logicalId = /:function:(\w+)/.exec(uri)![1]!;
  const { result, error } = await functions.get(logicalId)!.invoke(event);
  if (error !== undefined || result === undefined) return undefined;
  const { success, output, issues = [] } = v.safeParse(schema, JSON.parse(result));
  if (success) return output;
  const problems = issues.map((issue) => `${v.getDotPath(issue) ?? 'result'}: ${issue.message}`);
  console.error(`${logicalId}: malformed result: ${problems.join('; ')}`);
  return undefined;
}
