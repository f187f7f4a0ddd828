import { isDeepStrictEqual } from 'node:util';
import { stringifyJson } from '../../../shared/contract/json.ts';

/** A wider schema allows additional values. Schemas of requests may become wider, and schemas of responses narrower. */
type Impact = 'breaking' | 'non-breaking' | 'wider' | 'narrower';
type Classifier = Impact | ((before: any, after: any) => Impact);
type Rule = [path: string, added: Classifier, removed: Classifier, changed?: Classifier];

const SAFE = 'non-breaking';
const BREAKING = 'breaking';
const DAY = 86_400_000;

/** The removal of an operation must be announced 12 months in advance. An announced date must not become earlier. */
function sunset(before: string | undefined, after: string): Impact {
  const minimum = before === undefined ? Date.now() + 366 * DAY : Date.parse(before);
  return Date.parse(after) > minimum ? SAFE : BREAKING;
}

/** An operation can be removed once its `x-sunset` date has passed. */
const removedOperation: Classifier = (before) =>
  Date.parse(before['x-sunset']) + DAY <= Date.now() ? SAFE : BREAKING;

const addedInput: Classifier = (_before, { required }) => (required ? BREAKING : SAFE);
const required: Classifier = (_before, after) => (after ? BREAKING : SAFE);
const lowerLimit: Classifier = (before, after) => (before < after ? 'narrower' : 'wider');
const upperLimit: Classifier = (before, after) => (before < after ? 'wider' : 'narrower');

const ANY = '[^›]+';
const OPERATION = `paths › ${ANY} › (get|post|put|patch|delete)`;
const INPUT = `${OPERATION} › (parameters › ${ANY}|requestBody)`;
const RESPONSE = `(${OPERATION}|x-other-requests) › responses › ${ANY}`;
const SCHEMA = `(${OPERATION}|x-other-requests) › .+ › schema( › items| › properties › ${ANY})*`;
const INFO = 'summary|description|(x-)?deprecated(-reason)?|example|operationId|tags|links|x-extensible-enum';

// Impact of adding, removing and changing the part at a path, according to the policy in docs/interface.md
// ("Compatibility"). The first rule whose pattern matches the path applies.
const rules: Rule[] = [
  ['(info|servers|tags|externalDocs)( › .+)?', SAFE, SAFE, SAFE],
  ['(security|components › securitySchemes)( › (?!.+ › description).+)?', BREAKING, BREAKING, BREAKING],
  [OPERATION, SAFE, removedOperation],
  [`${OPERATION} › x-sunset`, sunset, SAFE, sunset],
  [INPUT, addedInput, BREAKING],
  [`${INPUT} › required`, required, required, required],
  [`${INPUT} › content › ${ANY}`, SAFE, BREAKING],
  [`${RESPONSE}( › (headers|content) › ${ANY}( › required)?)?`, SAFE, BREAKING, BREAKING],
  // The removal of a property breaks clients, because responses then lack the property, and requests cannot set it.
  [`${SCHEMA} › (properties › ${ANY}|default)`, SAFE, BREAKING, BREAKING],
  // Clients must not validate responses against length limits, because a later release can relax the limits.
  [`${RESPONSE} › .+ › (minLength|max(Length|Items))`, SAFE, SAFE, SAFE],
  [`${SCHEMA} › min(imum|Length)`, 'narrower', 'wider', lowerLimit],
  [`${SCHEMA} › max(imum|Length)`, 'narrower', 'wider', upperLimit],
  [`${SCHEMA} › enum › .+`, 'wider', 'narrower'],
  [`${SCHEMA}( › (type|format|pattern|enum|required › .+))?`, 'narrower', 'wider'],
  // The lookbehind excludes fields, parameters and headers whose name is in INFO, such as a field `description`.
  [`.+(?<!parameters|headers|properties) › (${INFO})( › .+)?`, SAFE, SAFE, SAFE],
];

/**
 * Returns a line for each change between two OpenAPI documents without references, or between their parts at `path`.
 * Example: `breaking: changed paths › /things › get › parameters › limit › schema › maximum: 100 → 50`.
 */
export function differences(before: unknown, after: unknown, path: string[] = []): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  const name = path.join(' › ');
  const action = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const verdict = verdictOn(name, before, after);
  const [old, current] = [partsOf(before), partsOf(after)];
  const parts = new Set([...(old?.keys() ?? []), ...(current?.keys() ?? [])]);
  if (old && current && parts.size > 0 && (!verdict || action === 'changed'))
    return [...parts].flatMap((part) => differences(old.get(part), current.get(part), [...path, part]));

  const values = [before, after].filter((value) => value !== undefined);
  const texts = values.map((value) => stringifyJson(value).replace(/(?<=^.{60}).+/s, '…'));
  return [`${verdict ?? 'cannot classify'}: ${action} ${name}: ${texts.join(' → ')}`];
}

/** Returns an object's members or a list's items by name, or undefined for scalars and lists with repeated names. */
function partsOf(value: unknown = {}): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const parts = new Map(value.map((item) => [item?.name ?? stringifyJson(item), item]));
  return parts.size === value.length ? parts : undefined;
}

/** Returns the impact of a change on clients, or undefined if no rule applies. */
function verdictOn(path: string, before: unknown, after: unknown): string | undefined {
  const rule = rules.find(([pattern]) => new RegExp(`^(${pattern})$`).test(path));
  const [, added, removed, changed] = rule ?? [];
  const classifier = before === undefined ? added : after === undefined ? removed : changed;
  const impact = typeof classifier === 'function' ? classifier(before, after) : classifier;
  if (impact !== 'wider' && impact !== 'narrower') return impact;
  const isResponse = path.includes(' › responses › ');
  return isResponse === (impact === 'narrower') ? SAFE : BREAKING;
}
