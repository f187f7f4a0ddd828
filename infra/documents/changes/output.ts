import type { Diff } from 'api-smart-diff';
import { UsageError } from '../../operate/command.ts';

interface PathItem {
  parameters?: Parameter[];
  [method: string]: { parameters?: Parameter[] } | Parameter[] | undefined;
}
interface Parameter {
  name: string;
}

const kinds: Diff['type'][] = ['breaking', 'unclassified', 'deprecated', 'non-breaking', 'annotation'];
const verbs = { add: 'added', remove: 'removed', replace: 'changed', rename: 'renamed' };
const LONGEST_VALUE = 60;

/**
 * A line for each difference, first what breaks clients and what nobody knows about:
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

/**
 * What the differences come to.
 *
 * @param base name of the document that the differences are against
 * @throws UsageError when any breaks clients, or is unclassified: what nobody knows is not let pass.
 */
export function conclusionOf(differences: Diff[], base: string): string {
  const breaking = differences.filter(({ type }) => type === 'breaking').length;
  const unclassified = differences.filter(({ type }) => type === 'unclassified').length;
  if (breaking > 0) {
    throw new UsageError(
      `${changes(breaking)} of openapi.json against ${base} would break clients` +
        `${unclassified > 0 ? `, and ${unclassified} unclassified may` : ''}: take back what breaks them, or offer it as ` +
        'a new version at an address of its own; only once every client can take it, release it by npm run openapi -- --release.',
    );
  }
  if (unclassified > 0) {
    throw new UsageError(
      `${changes(unclassified)} of openapi.json against ${base} may break clients, nobody knows: look at what is listed as ` +
        'unclassified, and take it back, or have infra/documents/changes/rules.ts say what it does to clients.',
    );
  }
  return differences.length > 0
    ? `Nothing breaks clients: ${changes(differences.length)} against ${base}.`
    : `openapi.json says the same as ${base}.`;
}

function changes(number: number): string {
  return `${number} change${number === 1 ? '' : 's'}`;
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
