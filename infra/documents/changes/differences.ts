import { isDeepStrictEqual } from 'node:util';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { documentRules, wholeValue, methods, type Rule, type Verdict } from './rules.ts';

const unknown = (): Verdict => 'cannot judge';

/**
 * Returns a line for each difference between two OpenAPI documents without references, such as
 * `breaking: changed GET /pets › parameters › limit › schema › maximum: 100 → 50`.
 *
 * @param place path of the two values in the documents
 */
export function differences(
  before: unknown,
  after: unknown,
  rule: Rule = documentRules,
  place: string[] = [],
): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (typeof rule === 'function') return [describe(rule(before, after), before, after, place)];

  const [old, current] = [partsOf(before), partsOf(after)];
  if (!old || !current) return differences(before, after, unknown, place);
  const isWhole = before === undefined || after === undefined;
  if (isWhole && rule[wholeValue]) return differences(before, after, rule[wholeValue], place);
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((name) => {
    const partRule = (Object.hasOwn(rule, name) ? rule[name] : rule['*']) ?? unknown;
    return differences(old.get(name), current.get(name), partRule, [...place, name]);
  });
}

/**
 * Returns the members of an object, or the items of a list by name (parameters) or value (`enum`, `required`).
 *
 * @returns undefined if the value is not an object or list, or if two items have the same name
 */
function partsOf(value: unknown = {}): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const parts = new Map(
    value.map((item: { name?: string } | null) => [item?.name ?? stringifyJson(item), item]),
  );
  return parts.size === value.length ? parts : undefined;
}

function describe(verdict: Verdict, before: unknown, after: unknown, place: string[]): string {
  const [first, path, method = '', ...rest] = place;
  const isOperation = first === 'paths' && methods.includes(method);
  const steps = isOperation ? [`${method.toUpperCase()} ${path}`, ...rest] : place;
  const action = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const values = [before, after]
    .filter((value) => value !== undefined)
    .map((value) => stringifyJson(value).replace(/(?<=^.{60}).+/s, '…'));
  // An item without a name is identified by its value, which is not repeated.
  const shown = values[0] === place.at(-1) ? '' : `: ${values.join(' → ')}`;
  return `${verdict}: ${action} ${steps.join(' › ')}${shown}`;
}
