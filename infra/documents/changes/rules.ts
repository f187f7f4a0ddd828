// Which differences between two OpenAPI documents break clients, by the policy in docs/interface.md ("Compatibility"). A
// difference without a rule cannot be judged.

export type Verdict = 'breaking' | 'cannot judge' | 'non-breaking';

/** Judges two values that differ; an absent one is undefined. */
export type Judge = (before: unknown, after: unknown) => Verdict;

export const itself = Symbol('itself');

/** Rules for the members of an object or the items of a list, by name; `*` is for all others. */
export interface Rules {
  /** Judges an addition or a removal of the whole. If omitted, its parts are judged as added or removed. */
  [itself]?: Judge;
  [name: string]: Rule;
}

export type Rule = Judge | Rules;

const safe: Judge = () => 'non-breaking';
const breaking: Judge = () => 'breaking';
const breakingUnlessAdded: Judge = (before) => (before === undefined ? 'non-breaking' : 'breaking');
const breakingIfTrue: Judge = (_before, after) => (after ? 'breaking' : 'non-breaking');
const breakingUnlessOptional: Judge = (before, after) =>
  before === undefined ? breakingIfTrue(before, (after as { required?: boolean }).required) : 'breaking';

/** An operation may be removed after the day that its `Sunset` header announced. */
const operationAsWhole: Judge = (before, after) => {
  const { 'x-sunset': day } = (before ?? {}) as { 'x-sunset'?: string };
  const isOver = after === undefined && day !== undefined && day < dayOf(new Date());
  return isOver ? 'non-breaking' : breakingUnlessAdded(before, after);
};

/** A removal is announced twelve months before. A day that has been announced may only be moved to a later one. */
const sunset: Judge = (before, after) => {
  if (after === undefined) return 'non-breaking';
  const minimum = typeof before === 'string' ? before : inTwelveMonths();
  const isDay = typeof after === 'string' && /^\d{4}-\d\d-\d\d$/.test(after);
  return isDay && after > minimum ? 'non-breaking' : 'breaking';
};

function inTwelveMonths(): string {
  const day = new Date();
  day.setUTCFullYear(day.getUTCFullYear() + 1);
  return dayOf(day);
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

function same(rule: Rule, ...names: string[]): Rules {
  return Object.fromEntries(names.map((name) => [name, rule]));
}

const texts = same(safe, 'title', 'summary', 'description', 'deprecated', 'example', 'examples');

/** Judges a constraint by whether it allows fewer values (narrower) or more (wider) than before. */
function constraint(narrower: Verdict, wider: Verdict, other: Verdict = 'breaking'): Judge {
  return (before, after) => (before === undefined ? narrower : after === undefined ? wider : other);
}

function limit(side: 'lower' | 'upper', narrower: Verdict, wider: Verdict): Judge {
  return (before, after) => {
    const [smaller, greater] = side === 'lower' ? [after, before] : [before, after];
    if (isLess(smaller, greater)) return wider;
    return isLess(greater, smaller) ? narrower : constraint(narrower, wider)(before, after);
  };
}

/** Returns the rules for a JSON Schema. */
function schemaRules(narrower: Verdict, wider: Verdict): Rules {
  const isRequest = narrower === 'breaking';
  const schema: Rules = {
    [itself]: constraint(narrower, wider),
    ...texts,
    ...same(constraint(narrower, wider), 'type', 'format', 'const', 'additionalProperties'),
    ...same(limit('lower', narrower, wider), 'minimum', 'exclusiveMinimum', 'minProperties'),
    ...same(limit('upper', narrower, wider), 'maximum', 'exclusiveMaximum', 'maxProperties'),
    // Clients must not rely on the length of texts and lists that they read: the limits for requests may be raised.
    ...same(limit('lower', narrower, 'non-breaking'), 'minLength', 'minItems'),
    ...same(limit('upper', narrower, 'non-breaking'), 'maxLength', 'maxItems'),
    // Whether one pattern allows more than another is for people to judge.
    pattern: constraint(narrower, isRequest ? wider : 'cannot judge', 'cannot judge'),
    enum: {
      [itself]: constraint(narrower, wider),
      '*': (before) => (before === undefined ? wider : narrower),
    },
    'x-extensible-enum': safe,
    required: { '*': constraint(narrower, wider) },
    default: breakingUnlessAdded,
  };
  schema['items'] = schema;
  // A removed property is missing from responses, and no longer stored from requests.
  schema['properties'] = { '*': { ...schema, [itself]: breakingUnlessAdded } };
  return schema;
}

function isLess(one: unknown, other: unknown): boolean {
  const areNumbers = [one, other].every((value) => ['bigint', 'number'].includes(typeof value));
  return areNumbers && (one as number) < (other as number);
}

const promised = { [itself]: breakingUnlessAdded, ...texts };
const demanded = { [itself]: breakingUnlessOptional, ...texts, required: breakingIfTrue };
const request = { schema: schemaRules('breaking', 'non-breaking') };
const response = { schema: schemaRules('non-breaking', 'breaking') };

const responses: Rules = {
  '*': {
    ...promised,
    headers: { '*': { ...promised, ...response, required: breakingUnlessAdded } },
    content: { '*': { ...promised, ...response } },
    links: safe,
  },
};
const operation: Rules = {
  ...promised,
  [itself]: operationAsWhole,
  ...same(safe, 'operationId', 'tags', 'externalDocs', 'x-deprecated-reason'),
  parameters: { '*': { ...demanded, ...request, in: breaking } },
  requestBody: { ...demanded, content: { '*': { ...promised, ...request } } },
  responses,
  security: breaking,
  'x-sunset': sunset,
};
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export const documentRules: Rules = {
  ...same(safe, 'servers', 'tags', 'externalDocs'),
  info: { '*': safe },
  security: breaking,
  components: { securitySchemes: { '*': { [itself]: breaking, description: safe, '*': breaking } } },
  paths: { '*': { ...texts, ...same(operation, ...methods) } },
  // Responses to requests that match no operation.
  'x-other-requests': { ...texts, responses },
};
