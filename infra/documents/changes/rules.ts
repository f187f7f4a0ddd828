import { isDeepStrictEqual } from 'node:util';
import {
  allAnnotation,
  allBreaking,
  allUnclassified,
  annotation,
  apiCompare,
  breaking,
  type ClassifyRuleTransformer,
  type ComapreContext,
  type CompareResolver,
  type CompareRules,
  type CompareRulesFunc,
  deprecated,
  type Diff,
  type DiffType,
  globalSecurityClassifyRule,
  globalSecurityItemClassifyRule,
  nonBreaking,
  openapi3Rules,
  openApiSchemaRules,
  transformClassifyRule,
} from 'api-smart-diff';

/**
 * How two OpenAPI documents differ, and which differences break clients. api-smart-diff decides; its rules are made
 * stricter below where they let pass what a client can notice.
 *
 * Called breaking though clients can take it: a type that is widened, a list of values that is dropped from a request or
 * new in an answer, a security scheme that is added or given up, `additionalProperties` that are restricted in an answer.
 * Listed, and not called breaking: another `operationId`, other addresses of servers, another way to write a list in a
 * parameter (`style`, `explode`). Called unclassified: whatever no rule knows, such as a keyword of JSON Schema that the
 * library has not heard of, or a new extension. Not seen: a `type` that is dropped where other keywords imply it, and a
 * bound beyond 2^53 that moves by less than doubles can tell.
 *
 * @param before text of an OpenAPI 3.1 document without references
 * @param after text of another
 */
export function differences(before: string, after: string): Diff[] {
  // Each is parsed afresh: comparing writes into what it compares.
  return apiCompare(JSON.parse(before), JSON.parse(after), { rules, annotateHook: () => '' }).diffs;
}

/** Breaking as well, by what was done and where. */
const alsoBreaking: [action: string, place: RegExp, when?: (context: ComapreContext) => boolean][] = [
  // Who reads a member misses it, and what is sent in one is dropped.
  ['remove', /\.properties\.[^.]+$/],
  // The library takes any text for any type in a query, and anything other for narrower in an answer.
  ['replace', /\.(type|format|pattern|const)$/],
  // A list of values where there was none, and none where there was one: the library takes none for an empty list.
  ['add', /\.enum\.\d+$/, ({ before }) => isEmpty(before.parent)],
  ['remove', /\.enum\.\d+$/, ({ after }) => isEmpty(after.parent)],
  // Parameters where there were none.
  [
    'add',
    /\.parameters$/,
    ({ after }) => (after.value as { required?: boolean }[]).some((one) => one.required),
  ],
  // Members beside the known ones, which were taken no notice of, are refused.
  ['add', /\.requestBody\..*\.additionalProperties$/],
  ['replace', /\.requestBody\..*\.additionalProperties$/],
  // A body is demanded where none was.
  ['add', /\.requestBody$/, ({ after }) => (after.value as { required?: boolean }).required === true],
  // What the whole document demands holds then.
  ['remove', /^paths\.[^.]+\.[^.]+\.security$/],
  // One more scheme beside those of a requirement: both are needed.
  ['add', /\bsecurity\.\d+\.[^.]+$/],
];

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}

/** What people read, at any depth: the library knows no more than the outermost value. */
const annotations: CompareRules = { $: allAnnotation, '/**': { $: allAnnotation } };
const examples: CompareRules = { '/example': annotations, '/examples': annotations };

/** By itself the library takes a schema for that of a request, but in an operation's answers. */
const answerSchema: CompareRules = { ...openApiSchemaRules({ response: true }), $: allBreaking };

/** The library has no rule for the schemas of an answer's headers, and takes a promised header for a demand. */
const answerHeader: CompareRules = {
  '/schema': answerSchema,
  '/required': { $: [nonBreaking, breaking, breaking] },
};

/** Of an operation: the library takes for an annotation whatever it does not know. */
const operationMembers: CompareRules = {
  '/*': { $: allUnclassified },
  '/operationId': annotations,
  '/summary': annotations,
  '/description': annotations,
  '/externalDocs': annotations,
  // Until that day clients count on the operation.
  '/x-sunset': {
    $: [
      deprecated,
      breaking,
      ({ before, after }) => (isLaterDay(after.value, before.value) ? nonBreaking : breaking),
    ],
  },
};

const DAY = /^\d{4}-\d\d-\d\d$/;

function isLaterDay(day: unknown, other: unknown): boolean {
  return DAY.test(String(day)) && DAY.test(String(other)) && String(day) > String(other);
}

/** Read by the table above, as every rule; without one of its own a place would not be asked about. */
const security: CompareRules = {
  $: globalSecurityClassifyRule,
  '/*': { $: globalSecurityItemClassifyRule, '/*': { $: allUnclassified } },
};

const library = openapi3Rules();

/** Answers to requests that are of no operation. */
const otherRequests: CompareRules = {
  $: [nonBreaking, breaking, breaking],
  '/description': annotations,
  '/responses': ruleAt(library, '/paths', '/*', '/*', '/responses'),
};

const rules = strict({
  ...library,
  '/tags': annotations,
  '/externalDocs': annotations,
  '/security': security,
  '/x-other-requests': otherRequests,
});

/** The rule, and those below it, with what is changed here. */
function strict(rule: CompareRules): CompareRules {
  const changed: CompareRules = {
    ...rule,
    // By what they have: parameters, headers and media types; schemas; operations; answers.
    ...('/schema' in rule && examples),
    ...('/properties' in rule && examples),
    ...('/requestBody' in rule && operationMembers),
    ...('/headers' in rule &&
      '/content' in rule && {
        '/headers': withRules(rule['/headers'], answerHeader),
        '/content': withRules(rule['/content'], { '/schema': answerSchema }),
      }),
    ...(rule.$ && { $: transformClassifyRule(rule.$, stricter) }),
    compare: onceUnequal(rule.compare),
  };
  for (const key of Object.keys(changed).filter((name): name is `/${string}` => name.startsWith('/'))) {
    const below = changed[key]!;
    changed[key] = typeof below === 'function' ? madeOnce(below) : strict(below);
  }
  return changed;
}

/**
 * The library makes the rules for a schema anew at every value, which takes it longer than comparing. They depend on two
 * things: the kind of a body, which is settled above, and whether `items` is a list, which OpenAPI 3.1 does not have.
 */
function madeOnce(make: CompareRulesFunc): CompareRulesFunc {
  let made: CompareRules | undefined;
  return (context) => (made ??= strict(make({ ...context, value: undefined })));
}

/** Rules for each of a kind, and more for its members. */
function withRules(rulesOfKind: CompareRules[`/${string}`], more: CompareRules): CompareRules {
  const kind = rulesOfKind as CompareRules;
  return { ...kind, '/*': { ...ruleAt(kind, '/*'), ...more } };
}

function ruleAt(parent: CompareRules, ...keys: `/${string}`[]): CompareRules {
  return keys.reduce((rule, key) => rule[key] as CompareRules, parent);
}

function stricter(...[type, context, action]: Parameters<ClassifyRuleTransformer>): DiffType {
  if (type === annotation) return type; // an example may have members of any name
  const place = (action === 'add' ? context.after : context.before).path.join('.');
  const isBreaking = alsoBreaking.some(
    ([done, where, when]) => done === action && where.test(place) && (when?.(context) ?? true),
  );
  return isBreaking ? breaking : type;
}

/** Most of two documents is the same, and going through it takes the library long. */
function onceUnequal(compare?: CompareResolver): CompareResolver {
  return (context) =>
    isDeepStrictEqual(context.before.value, context.after.value)
      ? { diffs: [], merged: context.after.value }
      : compare?.(context);
}
