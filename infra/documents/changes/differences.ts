import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';
import { UsageError } from '../../command.ts';
import { openApiJson } from '../openapi/document.ts';
import { ruleFor } from './rules.ts';

const OPERATION = /^paths › (\S+) › (get|put|post|delete|patch)\b/;

/**
 * Returns a line for each change in the API since the OpenAPI document in the file `base`, such as `breaking: changed GET
 * /pets › parameters › limit › schema › maximum: 100 → 50`. The lines are in alphabetical order, so breaking changes are
 * first. `failing` contains the changes that break clients or cannot be classified.
 *
 * @throws UsageError if the file cannot be read.
 */
export function changesSince(base: string): { all: string[]; failing: string[] } {
  let before: unknown;
  try {
    before = withoutReferences(parseJson(readFileSync(base, 'utf8')));
  } catch (error) {
    throw new UsageError(`${base} is not an OpenAPI document in JSON: ${(error as Error).message}`);
  }
  const all = differences(before, withoutReferences(parseJson(openApiJson('3.1.1')))).toSorted();
  return { all, failing: all.filter((line) => !line.startsWith('non-breaking:')) };
}

/** Returns the lines for two documents without references, or for the parts of two documents at `path`. */
export function differences(before: unknown, after: unknown, path: string[] = []): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  const name = path.join(' › ').replace(OPERATION, (_match, url, method) => `${method.toUpperCase()} ${url}`);
  const rule = ruleFor(name);
  const action = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const [old, current] = [partsOf(before), partsOf(after)];
  const parts = new Set([...(old?.keys() ?? []), ...(current?.keys() ?? [])]);
  if (old && current && parts.size > 0 && (!rule || action === 'changed'))
    return [...parts].flatMap((part) => differences(old.get(part), current.get(part), [...path, part]));

  const values = [before, after].filter((value) => value !== undefined);
  const texts = values.map((value) => stringifyJson(value).replace(/(?<=^.{60}).+/s, '…'));
  // The name of an item in a list of texts is its value, so the value is not repeated.
  const shown = texts[0] === path.at(-1) ? '' : `: ${texts.join(' → ')}`;
  return [`${rule?.(before, after) ?? 'cannot classify'}: ${action} ${name}${shown}`];
}

/** Splits an object into its members, or a list into its items by name. Returns undefined if that is not possible. */
function partsOf(value: unknown = {}): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const parts = new Map(
    value.map((item) => [typeof item === 'object' ? item?.name : stringifyJson(item), item]),
  );
  return parts.size === value.length && !parts.has(undefined) ? parts : undefined;
}

/** Returns a copy of the document in which the target of each reference replaces the reference. */
export function withoutReferences(document: any): any {
  const { schemas: _, responses: __, headers: ___, ...components } = document.components ?? {};
  return resolve({ ...document, components });

  function resolve(part: any): any {
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(resolve);
    const { $ref: reference, ...members } = part;
    if (reference === undefined)
      return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, resolve(member)]));
    const keys: string[] = reference.split('/').slice(1);
    const target = keys.reduce((parent, key) => parent?.[key], document);
    if (target === undefined) throw new Error(`it does not contain the target of ${reference}.`);
    return resolve({ ...target, ...members });
  }
}
