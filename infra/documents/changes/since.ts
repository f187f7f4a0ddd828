import { parseJson } from '../../../shared/contract/json.ts';
import { openApiJson } from '../openapi/document.ts';
import { differences } from './differences.ts';
import { readDocument, withoutReferences } from './document.ts';

/**
 * Returns how the API differs from the OpenAPI document in a file: a line for each change, in alphabetical order, so that
 * breaking changes come first; and those lines that break clients or cannot be judged.
 *
 * @throws UsageError if the file cannot be read.
 */
export function changesSince(base: string): { all: string[]; failing: string[] } {
  const current = withoutReferences(parseJson(openApiJson('3.1.1')) as Record<string, unknown>);
  const all = differences(readDocument(base), current).toSorted();
  return { all, failing: all.filter((line) => !line.startsWith('non-breaking:')) };
}
