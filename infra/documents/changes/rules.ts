// Rules that decide whether a difference between two OpenAPI documents breaks clients. The rules implement the policy
// in docs/interface.md ("Compatibility"). A difference without a rule cannot be classified.

/** A schema can allow more values (wider) or fewer values (narrower). Requests may get wider, and responses narrower. */
type Impact = 'breaking' | 'cannot classify' | 'non-breaking' | 'wider' | 'narrower';
type Classifier = Impact | ((before: any, after: any) => Impact);
type Rule = [path: string, added: Classifier, removed: Classifier, changed: Classifier];

const SAFE = 'non-breaking';
const BREAKING = 'breaking';
const DAY = 86_400_000;

/** A removal must be announced 12 months in advance. An announced date can only be postponed. */
function sunset(before: string | undefined, after: string): Impact {
  const minimum = before === undefined ? Date.now() + 366 * DAY : Date.parse(before);
  return Date.parse(after) > minimum ? SAFE : BREAKING;
}

/** An operation can be removed after the date in its `Sunset` header. */
const removedOperation = (before: any): Impact =>
  Date.parse(before['x-sunset']) + DAY <= Date.now() ? SAFE : BREAKING;

const required = (_before: unknown, after: unknown): Impact => (after ? BREAKING : SAFE);

function limit(isUpper: boolean): Classifier {
  return (before, after) => {
    if (typeof before !== typeof after) return BREAKING;
    return before < after === isUpper ? 'wider' : 'narrower';
  };
}

const ANY = '[^›]+';
const OPERATION = '[A-Z]+ /[^›]*';
const INPUT = `${OPERATION} › (parameters › ${ANY}|requestBody)`;
const RESPONSE = `(${OPERATION}|x-other-requests) › responses › ${ANY}`;
const SCHEMA = `(${OPERATION}|x-other-requests) › .+ › schema( › items| › properties › ${ANY})*`;

/** Paths of parts, and the impact of adding, removing and changing the part. The first rule with the path applies. */
const rules: Rule[] = [
  ['(info|servers|tags|externalDocs)( › .+)?', SAFE, SAFE, SAFE],
  [`(${OPERATION} › )?security( › .+)?`, BREAKING, BREAKING, BREAKING],
  [`components › securitySchemes › ${ANY}( › (?!description).+)?`, BREAKING, BREAKING, BREAKING],
  [OPERATION, SAFE, removedOperation, BREAKING],
  [`${OPERATION} › x-sunset`, sunset, SAFE, sunset],
  [`${OPERATION} › (operationId|tags|externalDocs|x-deprecated-reason)( › .+)?`, SAFE, SAFE, SAFE],
  [INPUT, (before, after) => required(before, after.required), BREAKING, BREAKING],
  [`${INPUT} › required`, required, required, required],
  [`${INPUT} › in`, BREAKING, BREAKING, BREAKING],
  [`${INPUT} › content › ${ANY}`, SAFE, BREAKING, BREAKING],
  [`${RESPONSE}( › (headers|content) › ${ANY}( › required)?)?`, SAFE, BREAKING, BREAKING],
  [`${RESPONSE} › links( › .+)?`, SAFE, SAFE, SAFE],
  // The removal of a property breaks clients, because the property is missing from responses and no longer stored.
  [`${SCHEMA} › (properties › ${ANY}|default)`, SAFE, BREAKING, BREAKING],
  [SCHEMA, 'narrower', 'wider', 'cannot classify'],
  [`${SCHEMA} › (type|format|const|additionalProperties)`, 'narrower', 'wider', BREAKING],
  // Clients must not rely on the length of strings and lists in responses, because the limits for requests can be raised.
  [`${RESPONSE} › .+ › (min|max)(Length|Items)`, SAFE, SAFE, SAFE],
  [`${SCHEMA} › (minimum|exclusiveMinimum|min(Length|Items|Properties))`, 'narrower', 'wider', limit(false)],
  [`${SCHEMA} › (maximum|exclusiveMaximum|max(Length|Items|Properties))`, 'narrower', 'wider', limit(true)],
  // Patterns cannot be compared automatically.
  [`${SCHEMA} › pattern`, 'narrower', 'wider', 'cannot classify'],
  [`${SCHEMA} › enum`, 'narrower', 'wider', BREAKING],
  [`${SCHEMA} › enum › .+`, 'wider', 'narrower', BREAKING],
  [`${SCHEMA} › required › .+`, 'narrower', 'wider', BREAKING],
  [`${SCHEMA} › x-extensible-enum( › .+)?`, SAFE, SAFE, SAFE],
  ['.+ › (title|summary|description|deprecated|examples?)( › .+)?', SAFE, SAFE, SAFE],
];

/** Returns the rule for a path such as `GET /pets › parameters › limit`, or undefined if there is none. */
export function ruleFor(path: string): ((before: unknown, after: unknown) => string) | undefined {
  const rule = rules.find(([pattern]) => new RegExp(`^(${pattern})$`).test(path));
  if (!rule) return undefined;
  const [, added, removed, changed] = rule;
  const isRequest = !path.includes(' › responses › ');
  return (before, after) => {
    const classifier = before === undefined ? added : after === undefined ? removed : changed;
    const impact = typeof classifier === 'string' ? classifier : classifier(before, after);
    if (impact !== 'wider' && impact !== 'narrower') return impact;
    return isRequest === (impact === 'wider') ? SAFE : BREAKING;
  };
}
