import { exampleOf } from '../../infra/documents/openapi/schema-objects.ts';
import { filterCombinations } from '../../shared/contract/list-query.ts';
import { openApiDocument } from './openapi-document.ts';
import { create, list, type NewItem, textField, validInput } from './sample.ts';

// Derives requests from the fields and parameters in openapi.json, so that tests also cover new fields and filters.

type Values = Record<string, string | bigint>;

const { operation } = openApiDocument();
const { properties, required } = operation(create.id).body as {
  properties: Record<string, any>;
  required: string[];
};

/** Query parameters of the list in their documented order. */
export const listParameters = operation(list.id).parameters.map(({ name }) => name);

/** One query for each combination of filters and their values. The first query has filters, and the last has none. */
export const filterQueries: Values[] = filterCombinations
  // Omits a combination whose query parameters are not published yet, because its index may lack items.
  .filter((fields) => fields.every((name) => listParameters.includes(name)))
  .toReversed()
  .flatMap((fields) =>
    fields.reduce<Values[]>(
      (rows, name) => valuesOf(name).flatMap((value) => rows.map((row) => ({ ...row, [name]: value }))),
      [{}],
    ),
  );

/**
 * Valid inputs. For each field except the text field, there is one input with each value of the field. For each
 * optional field, there is also one input without the field.
 */
export const variants = Object.keys(properties)
  .filter((name) => name !== textField)
  .flatMap((name) => {
    const { [name as keyof NewItem]: _value, ...others } = validInput;
    const present = valuesOf(name).map((value) => ({ ...validInput, [name]: value }));
    return (required.includes(name) ? present : [...present, others]) as NewItem[];
  });

/** Returns all values of the field `name` if it has an `enum`, else two examples and, for an integer, the minimum. */
function valuesOf(name: string): Values[string][] {
  const { enum: options, type, minimum } = properties[name];
  if (options) return options;
  const schema = create.request.entries.body.entries[name as keyof NewItem];
  const examples = [exampleOf(schema), exampleOf(schema, 1)];
  return [...new Set(type === 'integer' ? [...examples, BigInt(minimum)] : examples)];
}
