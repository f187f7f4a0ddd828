// Rules that decide whether a difference between two OpenAPI documents breaks clients. The rules implement the policy
// in docs/interface.md ("Compatibility"). A difference without a rule cannot be classified.

export type Impact = 'breaking' | 'cannot classify' | 'non-breaking';

/** Classifies the difference between two values. A missing value is undefined. */
export type Classifier = (before: unknown, after: unknown) => Impact;

export const wholeValue = Symbol('wholeValue');

/** Rules for the members of an object or the items of a list, by name. `*` applies to all other names. */
export interface Rules {
  /** Classifies the addition or removal of the object or list. @default - the rules classify each part */
  [wholeValue]?: Classifier;
  [name: string]: Rule;
}

export type Rule = Classifier | Rules;

function on(added: Impact, removed: Impact, changed: Impact = 'breaking'): Classifier {
  return (before, after) => (before === undefined ? added : after === undefined ? removed : changed);
}

const safe: Classifier = () => 'non-breaking';
const breaking: Classifier = () => 'breaking';
const breakingUnlessAdded = on('non-breaking', 'breaking');
const breakingIfTrue: Classifier = (_before, after) => (after ? 'breaking' : 'non-breaking');
const breakingUnlessOptional: Classifier = (before, after: any) =>
  before === undefined ? breakingIfTrue(before, after.required) : 'breaking';

const DAY = 86_400_000;

/** An operation can be removed after the date in its `Sunset` header. */
const operationAsWhole: Classifier = (before: any, after) =>
  Date.parse(before?.['x-sunset']) + DAY <= Date.now() ? 'non-breaking' : breakingUnlessAdded(before, after);

/** A removal must be announced 12 months in advance. An announced date can only be postponed. */
const sunset: Classifier = (before: any, after: any) => {
  const minimum = before === undefined ? Date.now() + 366 * DAY : Date.parse(before);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(after);
  return after === undefined || (isDay && Date.parse(after) > minimum) ? 'non-breaking' : 'breaking';
};

function sameRule(rule: Rule, ...names: string[]): Rules {
  return Object.fromEntries(names.map((name) => [name, rule]));
}

const texts = sameRule(safe, 'title', 'summary', 'description', 'deprecated', 'example', 'examples');

/** Returns a classifier that returns `narrower` if a limit allows fewer values than before, or `wider` if it allows more. */
function limit(side: 'lower' | 'upper', narrower: Impact, wider: Impact): Classifier {
  return (before: any, after: any) => {
    if (before === undefined || after === undefined) return on(narrower, wider)(before, after);
    const [smaller, greater] = side === 'lower' ? [after, before] : [before, after];
    return smaller < greater ? wider : smaller > greater ? narrower : 'breaking';
  };
}

/** This pattern matches the same names in JavaScript as the released one. A test compares it with the rule on all characters. */
const NAME_PATTERN = String.raw`^[\s\S]*(?:[^\s\x85]|[\x1c-\x1f])[\s\S]*$`;

function schemaRules(narrower: Impact, wider: Impact): Rules {
  // Patterns cannot be compared automatically, so a changed pattern cannot be classified.
  const pattern = on(narrower, wider === 'breaking' ? 'cannot classify' : wider, 'cannot classify');
  const schema: Rules = {
    [wholeValue]: on(narrower, wider),
    ...texts,
    ...sameRule(on(narrower, wider), 'type', 'format', 'const', 'additionalProperties'),
    ...sameRule(limit('lower', narrower, wider), 'minimum', 'exclusiveMinimum', 'minProperties'),
    ...sameRule(limit('upper', narrower, wider), 'maximum', 'exclusiveMaximum', 'maxProperties'),
    // Clients must not rely on the length of strings and lists in responses, because the limits for requests can be raised.
    ...sameRule(limit('lower', narrower, 'non-breaking'), 'minLength', 'minItems'),
    ...sameRule(limit('upper', narrower, 'non-breaking'), 'maxLength', 'maxItems'),
    pattern: (before, after) => (before && after === NAME_PATTERN ? 'non-breaking' : pattern(before, after)),
    enum: { [wholeValue]: on(narrower, wider), '*': on(wider, narrower) },
    'x-extensible-enum': safe,
    required: { '*': on(narrower, wider) },
    default: breakingUnlessAdded,
  };
  schema['items'] = schema;
  // The removal of a property breaks clients, because the property is missing from responses and no longer stored.
  schema['properties'] = { '*': { ...schema, [wholeValue]: breakingUnlessAdded } };
  return schema;
}

const guaranteed = { [wholeValue]: breakingUnlessAdded, ...texts };
const requestInput = { [wholeValue]: breakingUnlessOptional, ...texts, required: breakingIfTrue };
const request = { schema: schemaRules('breaking', 'non-breaking') };
const response = { schema: schemaRules('non-breaking', 'breaking') };

const responses: Rules = {
  '*': {
    ...guaranteed,
    headers: { '*': { ...guaranteed, ...response, required: breakingUnlessAdded } },
    content: { '*': { ...guaranteed, ...response } },
    links: safe,
  },
};
const operation: Rules = {
  ...guaranteed,
  [wholeValue]: operationAsWhole,
  ...sameRule(safe, 'operationId', 'tags', 'externalDocs', 'x-deprecated-reason'),
  parameters: { '*': { ...requestInput, ...request, in: breaking } },
  requestBody: { ...requestInput, content: { '*': { ...guaranteed, ...request } } },
  responses,
  security: breaking,
  'x-sunset': sunset,
};
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export const documentRules: Rules = {
  ...sameRule(safe, 'servers', 'tags', 'externalDocs'),
  info: { '*': safe },
  security: breaking,
  components: { securitySchemes: { '*': { [wholeValue]: breaking, description: safe, '*': breaking } } },
  paths: { '*': { ...texts, ...sameRule(operation, ...methods) } },
  // Responses to requests that do not match an operation.
  'x-other-requests': { ...texts, responses },
};
