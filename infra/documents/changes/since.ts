import { parseJson } from '../../../shared/contract/json.ts';
import { openApiJson } from '../openapi/document.ts';
import { differences } from './differences.ts';
import { readDocument, withoutReferences } from './document.ts';

/**
 * Returns a line for each change in the API since the OpenAPI document in the file `base`. The lines are in alphabetical
 * order, so breaking changes are first. `failing` contains the changes that break clients or cannot be classified.
 *
 * @throws UsageError if the file cannot be read.
 */
export function changesSince(base: string): { all: string[]; failing: string[] } {
  const current = withoutReferences(parseJson(openApiJson('3.1.1')) as Record<string, unknown>);
  const all = differences(readDocument(base), current).toSorted();
  return { all, failing: all.filter((line) => !line.startsWith('non-breaking:')) };
}
