import * as v from 'valibot';
import { type ErrorBody, errorBody, type ErrorCode } from '../../../shared/contract/errors.ts';
import { allowedMethodsMessage, methodsByPath } from '../../../shared/contract/gateway-responses.ts';
import type { Operation } from '../../../shared/contract/operations.ts';

// The examples of schemas and operations are used in the OpenAPI document. A test produces each example response.

/** Placeholder for the domain of the API and of the published reference page. */
export const PRODUCTION_DOMAIN = 'petstore.example.com';

const REQUEST_ID = '407fc894-750f-42ad-9f8a-7a2266197d54';

type Schema = v.GenericSchema & {
  entries?: Record<string, v.GenericSchema>;
  item?: v.GenericSchema;
  wrapped?: v.GenericSchema;
};

/** Returns the schema's own example, or an example composed from its entries. The example of an array has two items. */
export function exampleOf(schema: Schema, index = 0): unknown {
  const { entries, item, wrapped } = schema;
  const examples: readonly unknown[] = v.getExamples(schema);
  if (examples.length > 0) return examples[index] ?? examples[0];
  if (entries) {
    const fields = Object.entries(entries);
    return Object.fromEntries(fields.map(([name, entry]) => [name, exampleOf(entry, index)]));
  }
  if (item) return [exampleOf(item), exampleOf(item, 1)];
  return wrapped && exampleOf(wrapped, index);
}

/** Returns an example of the Error body for an operation, or for requests that do not match an operation. */
export function errorExample(code: ErrorCode, operation?: Operation): ErrorBody {
  const [methods = []] = methodsByPath().values();
  const defaultMessage = code === 'method_not_allowed' ? allowedMethodsMessage(methods) : undefined;
  const message = operation?.errors[code] ?? defaultMessage;
  return errorBody(code, message === true ? undefined : message, REQUEST_ID);
}
