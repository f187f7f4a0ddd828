import { isDeepStrictEqual } from 'node:util';
import { bundleFromString, createConfig } from '@redocly/openapi-core';
import {
  allUnclassified,
  apiCompare,
  breaking,
  type ClassifyRuleTransformer,
  type ComapreContext,
  type CompareResolver,
  type CompareRules,
  type Diff,
  type DiffType,
  globalSecurityClassifyRule,
  globalSecurityItemClassifyRule,
  nonBreaking,
  openapi3Rules,
  openApiSchemaRules,
  transformClassifyRule,
  transformComapreRules,
} from 'api-smart-diff';

/**
 * How two OpenAPI documents differ, and which differences break clients. api-smart-diff decides; its rules are made
 * stricter below where they let pass what a client can notice.
 *
 * Called breaking though clients can take it: a type that is widened, a list of values that is dropped from a request or
 * new in an answer, a security scheme that is added or given up, `additionalProperties` that are restricted in an answer.
 * Listed, and not called breaking: another `operationId`, other addresses of servers, another way to write a list in a
 * parameter (`style`, `explode`). Not seen: a `type` that is dropped where other keywords imply it, and a bound beyond
 * 2^53 that moves by less than doubles can tell.
 *
 * @param before text of an OpenAPI 3.1 document without references
 * @param after text of another
 */
export function differences(before: string, after: string): Diff[] {
  // Each is parsed afresh: comparing writes into what it compares.
  return apiCompare(JSON.parse(before), JSON.parse(after), { rules }).diffs;
}

/**
 * Text of the document with every reference replaced by what it points to: what a reference leads to would be judged as
 * part of a request, wherever it stands. Of the components only the security schemes are left, which are named.
 *
 * @throws Error when the text is no OpenAPI document, or a reference leads nowhere or out of it.
 */
export async function withoutReferences(text: string): Promise<string> {
  // Files and addresses would be fetched.
  if (/"\$ref":\s*"(?!#)/.test(text)) throw new Error('a reference leads out of it');
  const { bundle, problems } = await bundleFromString({
    source: text,
    absoluteRef: 'openapi.json',
    config: await createConfig({}),
    dereference: true,
  });
  if (problems[0]) throw new Error(problems[0].message);
  const document = bundle.parsed as { components?: { securitySchemes?: object } };
  return JSON.stringify({
    ...document,
    components: { securitySchemes: document.components?.securitySchemes ?? {} },
  });
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
  // One more scheme beside those of a requirement: both are needed.
  ['add', /\bsecurity\.\d+\.[^.]+$/],
];

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}

/** Of the headers of an answer: the library has no rule for their schemas, and takes a promised one for a demand. */
const answerHeader: CompareRules = {
  '/schema': openApiSchemaRules({ response: true }),
  '/required': { $: [nonBreaking, breaking, breaking] },
};

/** Read by the table above, as every rule; without one of its own a place would not be asked about. */
const security: CompareRules = {
  $: globalSecurityClassifyRule,
  '/*': { $: globalSecurityItemClassifyRule, '/*': { $: allUnclassified } },
};

const rules = transformComapreRules({ ...openapi3Rules(), '/security': security }, (rule) => ({
  ...rule,
  ...('/headers' in rule && { '/headers': withRules(rule['/headers'], answerHeader) }),
  ...(rule.$ && { $: transformClassifyRule(rule.$, stricter) }),
  ...(rule.compare && { compare: onceUnequal(rule.compare) }),
}));

function withRules(headers: CompareRules[`/${string}`], more: CompareRules): CompareRules {
  const { '/*': header, ...rest } = headers as CompareRules;
  return { ...rest, '/*': { ...(header as CompareRules), ...more } };
}

function stricter(...[type, context, action]: Parameters<ClassifyRuleTransformer>): DiffType {
  const place = (action === 'add' ? context.after : context.before).path.join('.');
  const isBreaking = alsoBreaking.some(
    ([done, where, when]) => done === action && where.test(place) && (when?.(context) ?? true),
  );
  return isBreaking ? breaking : type;
}

/** Most of two documents is the same, and going through it takes the library long. */
function onceUnequal(compare: CompareResolver): CompareResolver {
  return (context) =>
    isDeepStrictEqual(context.before.value, context.after.value)
      ? { diffs: [], merged: context.after.value }
      : compare(context);
}
