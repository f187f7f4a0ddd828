import { isDeepStrictEqual } from 'node:util';
import { stringifyJson } from '../../../shared/contract/json.ts';

type Action = 'added' | 'removed' | 'changed';

/** A wider schema allows additional values. Schemas of requests may become wider, and schemas of responses narrower. */
type Impact = 'breaking' | 'non-breaking' | 'wider' | 'narrower';

/**
 * Impact of adding, removing and changing the part of a document at `path`. If an action has no impact here, the change
 * cannot be classified, so a person must decide.
 */
interface Rule extends Partial<Record<Action, Impact | ((before: any, after: any) => Impact)>> {
  /** Pattern of the whole path. */
  path: string;
}

const SAFE = 'non-breaking';
const BREAKING = 'breaking';
const DAY = 86_400_000;

const ANY = '[^›]+';
const OPERATION = `paths › ${ANY} › (get|post|put|patch|delete)`;
const OPERATION_PLACE = new RegExp(`^${OPERATION}$`);
const PARAMETER_OR_BODY = `${OPERATION} › (parameters › ${ANY}|requestBody)`;
const RESPONSE = `${OPERATION} › responses › ${ANY}`;
const SCHEMA = `${OPERATION} › .+ › schema( › items| › properties › ${ANY})*`;

// The rules implement the policy in docs/interface.md ("Compatibility"). The first rule that matches a path applies.

const ruleForTheDocument: Rule = {
  path: '(info|servers|tags|externalDocs)( › .+)?',
  added: SAFE,
  removed: SAFE,
  changed: SAFE,
};

const ruleForAuthentication: Rule = {
  path: '(security|components › securitySchemes)( › (?!.+ › description).+)?',
  added: BREAKING,
  removed: BREAKING,
  changed: BREAKING,
};

const rulesForOperations: Rule[] = [
  { path: OPERATION, added: SAFE, removed: isSunset },
  { path: `${OPERATION} › x-stability`, added: BREAKING },
  { path: `${OPERATION} › x-sunset`, added: isAnnouncedInTime, removed: SAFE, changed: isPostponed },
];

const rulesForRequests: Rule[] = [
  { path: PARAMETER_OR_BODY, added: isOptional, removed: BREAKING },
  {
    path: `${PARAMETER_OR_BODY} › required`,
    added: becomesOptional,
    removed: SAFE,
    changed: becomesOptional,
  },
  { path: `${PARAMETER_OR_BODY} › content › ${ANY}`, added: SAFE, removed: BREAKING },
];

const rulesForResponses: Rule[] = [
  { path: RESPONSE, added: SAFE, removed: BREAKING, changed: BREAKING },
  {
    path: `${RESPONSE} › (headers|content) › ${ANY}( › required)?`,
    added: SAFE,
    removed: BREAKING,
    changed: BREAKING,
  },
];

const rulesForSchemas: Rule[] = [
  // The removal of a property breaks clients, because responses then lack the property, and requests cannot set it.
  { path: `${SCHEMA} › properties › ${ANY}`, added: SAFE, removed: BREAKING, changed: BREAKING },
  { path: `${SCHEMA} › default`, added: SAFE, removed: BREAKING, changed: BREAKING },
  // Clients must not validate responses against length limits, because a later release can relax the limits.
  {
    path: `${RESPONSE} › .+ › (minLength|maxLength|maxItems)`,
    added: SAFE,
    removed: SAFE,
    changed: SAFE,
  },
  { path: `${SCHEMA} › (minimum|minLength)`, added: 'narrower', removed: 'wider', changed: ofLowerLimit },
  { path: `${SCHEMA} › (maximum|maxLength)`, added: 'narrower', removed: 'wider', changed: ofUpperLimit },
  { path: `${SCHEMA} › enum › .+`, added: 'wider', removed: 'narrower' },
  { path: `${SCHEMA}( › (type|format|pattern|enum|required › .+))?`, added: 'narrower', removed: 'wider' },
];

/** Names of parts that can change, because they occur only in the document, and not in requests and responses. */
const DESCRIPTIVE = [
  'summary',
  'description',
  'deprecated',
  'example',
  'operationId',
  'tags',
  'links',
  'x-extensible-enum',
].join('|');

const ruleForDescriptions: Rule = {
  // The lookbehind excludes parameters, headers and fields with such a name, for example a field `description`.
  path: `.+(?<!parameters|headers|properties) › (${DESCRIPTIVE})( › .+)?`,
  added: SAFE,
  removed: SAFE,
  changed: SAFE,
};

const rules = [
  ruleForTheDocument,
  ruleForAuthentication,
  ...rulesForOperations,
  ...rulesForRequests,
  ...rulesForResponses,
  ...rulesForSchemas,
  ruleForDescriptions,
].map(({ path, ...impacts }) => ({ ...impacts, pattern: new RegExp(`^(${path})$`) }));

/** An operation can be removed once its `x-sunset` date has passed. */
function isSunset(operation: any): Impact {
  const endOfSunset = Date.parse(operation['x-sunset']) + DAY;
  return endOfSunset <= Date.now() ? SAFE : BREAKING;
}

/** The removal of an operation must be announced 12 months in advance. */
function isAnnouncedInTime(_before: undefined, sunset: string): Impact {
  return Date.parse(sunset) > Date.now() + 366 * DAY ? SAFE : BREAKING;
}

/** An announced removal must not become earlier. */
function isPostponed(before: string, after: string): Impact {
  return Date.parse(after) > Date.parse(before) ? SAFE : BREAKING;
}

function isOptional(_before: undefined, parameterOrBody: { required?: boolean }): Impact {
  return becomesOptional(undefined, parameterOrBody.required);
}

function becomesOptional(_before: unknown, required: boolean | undefined): Impact {
  return required ? BREAKING : SAFE;
}

function ofLowerLimit(before: bigint, after: bigint): Impact {
  return before < after ? 'narrower' : 'wider';
}

function ofUpperLimit(before: bigint, after: bigint): Impact {
  return before < after ? 'wider' : 'narrower';
}

/**
 * Returns a line for each change between two OpenAPI documents without references, or between their parts at `path`.
 * Example: `breaking: changed paths › /things › get › parameters › limit › schema › maximum: 100 → 50`.
 */
export function differences(before: unknown, after: unknown, path: string[] = []): string[] {
  if (isDeepStrictEqual(before, after)) return [];

  const place = path.join(' › ');
  const stability = OPERATION_PLACE.test(place) && (before as any)?.['x-stability'];
  if (stability) return [`${SAFE}: ${after ? 'changed' : 'removed'} the ${stability} operation ${place}`];

  const action = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const verdict = verdictOn(place, action, before, after);
  const parts = pairsOfParts(before, after);
  if (parts.length > 0 && (action === 'changed' || !verdict))
    return parts.flatMap(([name, old, current]) => differences(old, current, [...path, name]));

  const values = [before, after].filter((value) => value !== undefined).map(shortJson);
  return [`${verdict ?? 'cannot classify'}: ${action} ${place}: ${values.join(' → ')}`];
}

/** Returns whether a change is breaking or non-breaking, or undefined if no rule classifies it. */
function verdictOn(place: string, action: Action, before: unknown, after: unknown) {
  const rule = rules.find(({ pattern }) => pattern.test(place));
  const classifier = rule?.[action];
  const impact = typeof classifier === 'function' ? classifier(before, after) : classifier;
  const isResponse = place.includes(' › responses › ');
  if (impact === 'wider') return isResponse ? BREAKING : SAFE;
  if (impact === 'narrower') return isResponse ? SAFE : BREAKING;
  return impact;
}

/**
 * Returns the parts of two values by name, or no parts if a value cannot be compared part by part. If a part was added
 * or removed, its value before or after is undefined.
 */
function pairsOfParts(before: unknown, after: unknown): [name: string, before: unknown, after: unknown][] {
  const [old, current] = [partsOf(before), partsOf(after)];
  if (!old || !current) return [];
  const names = new Set([...old.keys(), ...current.keys()]);
  return Array.from(names, (name) => [name, old.get(name), current.get(name)]);
}

/** Returns an object's members or a list's items by name, or undefined for scalars and lists with repeated names. */
function partsOf(value: unknown = {}): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const parts = new Map(value.map((item) => [item?.name ?? stringifyJson(item), item]));
  return parts.size === value.length ? parts : undefined;
}

function shortJson(value: unknown): string {
  const json = stringifyJson(value);
  return json.length > 60 ? `${json.slice(0, 60)}…` : json;
}
