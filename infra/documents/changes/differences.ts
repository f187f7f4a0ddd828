import { isDeepStrictEqual } from 'node:util';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { documentRules, wholeValue, methods, type Impact, type Rule } from './rules.ts';

const unknown = (): Impact => 'cannot classify';

/**
 * Returns a line for each difference between two OpenAPI documents, such as `breaking: changed GET /pets › parameters ›
 * limit › schema › maximum: 100 → 50`. The documents must not contain references.
 *
 * @param path path of the two values in the documents
 */
export function differences(
  before: unknown,
  after: unknown,
  rule: Rule = documentRules,
  path: string[] = [],
): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (typeof rule === 'function') return [describe(rule(before, after), before, after, path)];

  const [old, current] = [partsOf(before), partsOf(after)];
  if (!old || !current) return differences(before, after, unknown, path);
  const isWhole = before === undefined || after === undefined;
  if (isWhole && rule[wholeValue]) return differences(before, after, rule[wholeValue], path);
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((name) => {
    const partRule = (Object.hasOwn(rule, name) ? rule[name] : rule['*']) ?? unknown;
    return differences(old.get(name), current.get(name), partRule, [...path, name]);
  });
}

/**
 * Splits an object into its members, or a list into its items by name (parameters) or value (`enum`, `required`).
 *
 * @returns the parts, or undefined if the value is not an object or list or if two items have the same name
 */
function partsOf(value: unknown = {}): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const parts = new Map(
    value.map((item: { name?: string } | null) => [item?.name ?? stringifyJson(item), item]),
  );
  return parts.size === value.length ? parts : undefined;
}

function describe(impact: Impact, before: unknown, after: unknown, path: string[]): string {
  const [first, url, method = '', ...rest] = path;
  const isOperation = first === 'paths' && methods.includes(method);
  const steps = isOperation ? [`${method.toUpperCase()} ${url}`, ...rest] : path;
  const action = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const values = [before, after]
    .filter((value) => value !== undefined)
    .map((value) => stringifyJson(value).replace(/(?<=^.{60}).+/s, '…'));
  // An item without a name is identified by its value, so the value is not repeated.
  const shown = values[0] === path.at(-1) ? '' : `: ${values.join(' → ')}`;
  return `${impact}: ${action} ${steps.join(' › ')}${shown}`;
}
