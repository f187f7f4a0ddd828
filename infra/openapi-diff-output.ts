import type { Diff } from 'api-smart-diff';

interface PathItem {
  parameters?: Parameter[];
  [method: string]: { parameters?: Parameter[] } | Parameter[] | undefined;
}
interface Parameter {
  name: string;
}

const kinds: Diff['type'][] = ['breaking', 'deprecated', 'non-breaking', 'annotation', 'unclassified'];
const verbs = { add: 'added', remove: 'removed', replace: 'changed', rename: 'renamed' };
const LONGEST_VALUE = 60;

/**
 * A line for each difference, what breaks clients first:
 * `breaking: changed GET /pets › parameters › limit › schema › maximum: 100 → 50`.
 *
 * @param before text of the document that the differences are against
 */
export function describeDifferences(differences: Diff[], before: string): string[] {
  const { paths = {} } = JSON.parse(before) as { paths?: Record<string, PathItem> };
  return differences
    .toSorted((one, other) => kinds.indexOf(one.type) - kinds.indexOf(other.type))
    .map((difference) => {
      const { type, action } = difference;
      return `${type}: ${verbs[action]} ${placeOf(difference, paths)}${valueOf(difference)}`;
    });
}

/** Operations go by their method and path, parameters by their names. */
function placeOf({ path, after }: Diff, paths: Record<string, PathItem>): string {
  const [first, address = '', method, ...steps] = path.map(String);
  if (first !== 'paths' || method === undefined) return path.join(' › ');
  if (steps[0] === 'parameters' && steps[1] !== undefined) {
    const item = paths[address];
    const operation = item?.[method] as { parameters?: Parameter[] } | undefined;
    // In this order the library counts them, those that are new after all others.
    const parameters = [...(operation?.parameters ?? []), ...(item?.parameters ?? []), after as Parameter];
    steps[1] = parameters[Number(steps[1])]?.name ?? steps[1];
  }
  return [`${method.toUpperCase()} ${address}`, ...steps].join(' › ');
}

/** Objects and lists are too long to be told. */
function valueOf({ action, before, after }: Diff): string {
  if (action === 'replace' || action === 'rename') return `: ${short(before)} → ${short(after)}`;
  const value = short(action === 'add' ? after : before);
  return value === '…' ? '' : `: ${value}`;
}

function short(value: unknown): string {
  if (typeof value === 'object' && value !== null) return '…';
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
