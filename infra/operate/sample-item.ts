import { faker } from '@faker-js/faker/locale/en';
import * as v from 'valibot';
import { INT64 } from '../../shared/contract/limits.ts';

const textsBeyondAscii = ['Zoë', 'Bjørn', 'Łatka', 'Σπίθα', 'Мурка', 'مشمش', 'たま', '小白', 'Nala 🐕'];

/** Returns a random item that the schema of a request body accepts. The schema and the seeds determine the item. */
export function sampleItem({ entries }: { entries: v.ObjectEntries }, seeds: number[]): object {
  faker.seed(seeds);
  const fields = Object.entries(entries).map(([name, schema]) => [name, sampleField(schema)]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** Returns a random value of a field, or undefined if the item omits the field. */
function sampleField(schema: any): unknown {
  const isOptional = 'wrapped' in schema;
  if (isOptional && faker.datatype.boolean(0.25)) return undefined;
  const required = isOptional ? schema.wrapped : schema;
  const examples = faker.helpers.shuffle([...v.getExamples(schema), ...v.getExamples(required)]);
  // An example replaces a random value that a custom rule of the field rejects. An example is also the value of a field
  // whose type `sampleValue` does not know.
  return [sampleValue(required, examples), ...examples].find((value) => v.is(required, value));
}

/**
 * Returns a random value, or undefined if the type of the field is unknown. Clients often corrupt large integers and
 * non-ASCII text, so some items have them.
 */
function sampleValue(schema: any, examples: unknown[]): unknown {
  const { datatype, helpers, number, word } = faker;
  const isOdd = datatype.boolean(0.05);
  switch (schema.type) {
    case 'string': {
      if (examples.length > 0 && datatype.boolean(0.2)) return examples[0];
      const text = isOdd ? helpers.arrayElement(textsBeyondAscii) : `${word.adjective()} ${word.noun()}`;
      const { maxLength } = v.getMetadata(schema) as { maxLength: number };
      return Array.from(text).slice(0, maxLength).join('');
    }
    case 'bigint': {
      const { minimum, maximum } = INT64;
      const large = number.bigInt({ min: minimum, max: maximum });
      return isOdd ? helpers.arrayElement([minimum, large, maximum]) : number.bigInt({ min: 1, max: 9 });
    }
    case 'picklist':
      return helpers.arrayElement(schema.options);
    default:
      return undefined;
  }
}
