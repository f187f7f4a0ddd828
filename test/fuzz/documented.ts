import * as fc from 'fast-check';
import { parseJson } from '../../shared/contract/json.ts';
import { type DocumentedOperation, openApiDocument } from '../support/openapi-document.ts';
import { create, get, list } from '../support/sample.ts';

// Generates values from the schemas in openapi.json, for fields, filters and operations that have no other generator.
// For these values, openapi.json also determines whether a request is valid.

const document = openApiDocument();
export const { operations } = document;
const [createOperation, listOperation] = [document.operation(create.id), document.operation(list.id)];
const modeled = new Set<string>([create.id, list.id, get.id]);
export const otherOperations = operations.filter(({ id }) => !modeled.has(id));

export const createFields = fieldsOf(createOperation);
export const { required: requiredFields } = createOperation.body as { required: string[] };
export const exampleBody = createOperation.example.body!;

export const listParameters = listOperation.parameters.filter((parameter) => parameter.in === 'query');
/** Parameters that filter the list by the field of the same name. */
export const filters = listParameters.filter(({ name }) => !['limit', 'cursor'].includes(name));
const { items }: any = listOperation.responses[200]!.schema;
const unknown = filters.find(({ name }) => !(name in items.properties));
if (unknown)
  throw new Error(
    `The filter ${unknown.name} has no field of that name. Generate its values in test/fuzz/requests.ts.`,
  );

type Values = Record<string, fc.Arbitrary<any>>;

/** Returns generators of valid and invalid values by the names of the fields or parameters. */
export function valuesOf(parts: { name: string; schema: object; example: unknown }[]): Values {
  return Object.fromEntries(
    parts.map(({ name, schema, example }) => [
      name,
      fc.oneof(valueOf(schema), valueOf(schema), fc.constant(example ?? null), fc.json().map(parseJson)),
    ]),
  );
}

export function fieldsOf({ body, example }: DocumentedOperation) {
  const { properties = {} }: { properties?: Record<string, object> } = body ?? {};
  const examples: any = parseJson(example.body ?? '{}');
  return Object.entries(properties).map(([name, schema]) => ({ name, schema, example: examples[name] }));
}

/** Generates values that match a JSON Schema or are slightly beyond its limits. */
function valueOf({ enum: options, type, minimum = -(2 ** 63), maximum = 2 ** 63, maxLength = 1_000 }: any) {
  if (options) return fc.constantFrom(...options);
  if (type === 'integer') return fc.bigInt({ min: BigInt(minimum) - 1n, max: BigInt(maximum) + 1n });
  if (type !== 'string') return fc.json().map(parseJson);
  const length = Math.min(maxLength, 1_000); // a body with several texts must not exceed 64 KiB
  const longest = ['😀'.repeat(length), '😀'.repeat(length + 1)];
  return fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', '\0', '\ud800', ...longest));
}
