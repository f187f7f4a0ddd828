import { parseJson, stringifyJson } from '../../../../shared/contract/json.ts';

/**
 * Returns a copy of an OpenAPI document with changes in the format of `npm run openapi:diff`, such as
 * `removed GET /pets › parameters › limit` or `changed info › title: "Pet store" → "Pets"`.
 *
 * @throws Error if a part to remove or change does not exist, or if a part to add exists.
 */
export function withChanges<Document extends object>(document: Document, ...changes: string[]): Document {
  const copy = parseJson(stringifyJson(document)) as Document;
  for (const change of changes) apply(change, copy);
  return copy;
}

function apply(change: string, document: object): void {
  const [, action, path = '', value] =
    /^(added|removed|changed) (.+?)(?:: (?:.+ → )?(.+))?$/.exec(change) ?? [];
  const steps = path.split(' › ').flatMap(stepsOf);
  const name = steps.pop()!;
  const parent = steps.reduce<any>((part, step) => part[keyOf(part, step)], document);
  const key = keyOf(parent, name);
  if (Object.hasOwn(parent, key) === (action === 'added'))
    throw new Error(`The change cannot be applied: ${change}`);
  if (action !== 'removed') parent[key] = parseJson(value ?? name);
  else if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
}

function stepsOf(step: string): string[] {
  const [, method, path] = /^([A-Z]+) (\/.*)$/.exec(step) ?? [];
  return method ? ['paths', path!, method.toLowerCase()] : [step];
}

/** Returns the key of the member or list item that `name` identifies. The key of a new list item is the next index. */
function keyOf(part: any, name: string): string {
  if (!Array.isArray(part)) return name;
  const index = part.findIndex((item) => item.name === name || stringifyJson(item) === name);
  return String(index < 0 ? part.length : index);
}
