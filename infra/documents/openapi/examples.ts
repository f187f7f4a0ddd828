import * as v from 'valibot';
import { type ErrorBody, errorBody, type ErrorCode } from '../../../shared/contract/errors.ts';
import { allowedMethodsMessage, methodsByPath } from '../../../shared/contract/gateway-responses.ts';
import type { Operation } from '../../../shared/contract/operations.ts';

// Examples of the OpenAPI document follow from those of the schemas and operations. A test produces each response again.

/** A placeholder: the output of `npm run docs` could be published there too. */
export const PRODUCTION_DOMAIN = 'petstore.example.com';

const REQUEST_ID = '407fc894-750f-42ad-9f8a-7a2266197d54';

type Schema = v.GenericSchema & {
  entries?: Record<string, v.GenericSchema>;
  item?: v.GenericSchema;
  wrapped?: v.GenericSchema;
};

/** An example of a schema: one of its own, or made of those of its members; an array has two. */
export function exampleOf(schema: Schema, index = 0): unknown {
  const { entries, item, wrapped } = schema;
  const examples: readonly unknown[] = v.getExamples(schema);
  if (examples.length > 0) return examples[index] ?? examples[0];
  if (entries) {
    const members = Object.entries(entries);
    return Object.fromEntries(members.map(([name, entry]) => [name, exampleOf(entry, index)]));
  }
  if (item) return [exampleOf(item), exampleOf(item, 1)];
  return wrapped && exampleOf(wrapped, index);
}

/** The Error body of a code, as this operation, or a request for none, gets it. */
export function errorExample(code: ErrorCode, operation?: Operation): ErrorBody {
  const [methods = []] = methodsByPath().values();
  const general = code === 'method_not_allowed' ? allowedMethodsMessage(methods) : undefined;
  const own = operation?.errors[code] ?? general;
  return errorBody(code, own === true ? undefined : own, REQUEST_ID);
}
