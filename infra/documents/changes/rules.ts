// Which differences between two OpenAPI documents break clients. A difference without a rule cannot be judged.

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

/** Clients rely on the operation until that day; it may be reprieved. */
const sunset: Judge = (before, after) => {
  const isLater = /^\d{4}-\d\d-\d\d$/.test(String(after)) && String(after) > String(before);
  return isLater || after === undefined ? 'non-breaking' : breakingUnlessAdded(before, after);
};

function same(rule: Rule, ...names: string[]): Rules {
  return Object.fromEntries(names.map((name) => [name, rule]));
}

const texts = same(safe, 'title', 'summary', 'description', 'deprecated', 'example', 'examples');

/** Returns the rules for a JSON Schema: verdicts on one that allows fewer values (narrower) or more (wider). */
function schemaRules(narrower: Verdict, wider: Verdict): Rules {
  const constraint: Judge = (before, after) =>
    before === undefined ? narrower : after === undefined ? wider : 'breaking';
  const lowerLimit: Judge = (before, after) =>
    isLess(after, before) ? wider : isLess(before, after) ? narrower : constraint(before, after);
  const upperLimit: Judge = (before, after) =>
    isLess(before, after) ? wider : isLess(after, before) ? narrower : constraint(before, after);
  const schema: Rules = {
    [itself]: constraint,
    ...texts,
    ...same(constraint, 'type', 'format', 'pattern', 'const', 'additionalProperties'),
    ...same(lowerLimit, 'minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'),
    ...same(upperLimit, 'maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'),
    // Of numbers only `Error` lists values: HTTP statuses, which clients know by their class.
    enum: {
      [itself]: constraint,
      '*': (before, after) =>
        before !== undefined ? narrower : typeof after === 'string' ? wider : 'non-breaking',
    },
    required: { '*': constraint },
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
/** Clients treat an error code that they do not know by its status: docs/interface.md. */
const errorCode = { ...response.schema, enum: { [itself]: breaking, '*': safe } };
Object.assign(response.schema['properties']!, { code: errorCode });

const responses: Rules = {
  '*': {
    ...promised,
    headers: { '*': { ...promised, ...response, required: breakingUnlessAdded } },
    content: { '*': { ...promised, ...response } },
  },
};
const operation: Rules = {
  ...promised,
  ...same(safe, 'operationId', 'tags', 'externalDocs'),
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
