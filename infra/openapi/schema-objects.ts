import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { errorCodes } from '../../shared/contract/errors.ts';
import { isOptional } from '../../shared/contract/fields.ts';
import type { Operation, RequestParts, Collection } from '../../shared/contract/operation.ts';
import { collections, operations } from '../../shared/contract/operations.ts';

export type Json = Record<string, unknown>;

/** Named schemas, to which the document refers as its components. */
const components: Record<string, any> = Object.assign(
  {},
  ...collections.map(({ schemas }: Collection) => schemas),
);
const requestBodies = new Set(Object.values<Operation>(operations).map(({ request }) => request.body));

const errorSchema = {
  description: 'The body of every error response of the service.',
  type: 'object',
  required: ['code', 'message', 'status'],
  properties: {
    code: {
      type: 'string',
      'x-extensible-enum': errorCodes,
      description: 'Error code for programs. New codes can be added, so handle unknown codes by `status`.',
    },
    message: { type: 'string', description: 'Error message for people. The text can change.' },
    status: {
      type: 'integer',
      format: 'int32',
      minimum: 400,
      maximum: 599,
      description: 'The HTTP status code of the response.',
    },
  },
};

const conversion: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'output',
  definitions: components,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  // JSON Schema has no bigint, parameters are strings until they are parsed, and rules in code cannot be converted.
  // Metadata with a `type` therefore replaces the generated schema.
  overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'bigint' ? {} : undefined),
  overrideAction: ({ valibotAction: { metadata } }: any) => (metadata?.type ? metadata : undefined),
  ignoreActions: ['check', 'examples', 'max_value', 'min_value', 'transform'],
};

/** Returns the schemas of the document's components by name. */
export function componentSchemas(): Json {
  const schemas = Object.entries(toJsonSchemaDefs(components, conversion)).map(([name, schema]) => {
    const isSent = requestBodies.has(components[name]);
    return [name, withTextRules(schema, isSent)];
  });
  return { ...Object.fromEntries(schemas), Error: errorSchema };
}

/** Returns the JSON Schema of a value that clients send or receive. */
export function schemaObject(schema: v.GenericSchema, direction: 'sent' | 'received' = 'sent'): Json {
  const { $schema: _, $defs: __, ...converted } = toJsonSchema(schema, conversion);
  return withTextRules(converted, direction === 'sent');
}

/**
 * Returns a copy of a schema without the member `rules`, which describes the rules of a text field in words. If clients
 * send the field, its description ends with the rules. If clients only receive the field, the copy has neither the
 * rules nor limits such as `maxLength`.
 */
function withTextRules(schema: any, isSent: boolean): any {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((part) => withTextRules(part, isSent));
  // The rules are a string, unlike the schema of a field that is named `rules`.
  if (typeof schema.rules === 'string') return isSent ? sentText(schema) : receivedText(schema);

  const parts = Object.entries(schema).map(([name, part]) => [name, withTextRules(part, isSent)]);
  return Object.fromEntries(parts);
}

function sentText({ rules, type, description, ...limits }: any): Json {
  return { type, ...limits, description: description ? `${description} ${rules}` : rules };
}

function receivedText({ type, description }: any): Json {
  return { type, description };
}

/**
 * Returns the schema's example at `index`. For a schema without examples, composes the example of an object from its
 * entries, and the example of an array from two examples of its items.
 */
export function exampleOf(schema: any, index = 0): any {
  const examples: readonly unknown[] = v.getExamples(schema);
  if (examples.length > 0) return examples[index] ?? examples[0];

  const { entries, item, wrapped } = schema;
  if (item) return [exampleOf(item), exampleOf(item, 1)];
  if (entries) {
    const fields = Object.entries(entries).map(([name, entry]) => [name, exampleOf(entry, index)] as const);
    return Object.fromEntries(fields.filter(([, example]) => example !== undefined));
  }
  return wrapped && exampleOf(wrapped, index); // An optional value wraps the schema of the value.
}

/** Returns the parameters of an operation. The examples of all parameters form one valid request. */
export function parameterObjects({ path, query, headers: header }: RequestParts): Json[] {
  return Object.entries<any>({ path, query, header }).flatMap(([location, schema]) => {
    if (!schema) return [];
    const examples = exampleOf(schema);
    return Object.entries<any>(schema.entries).map(([name, entry]) => {
      const { description, ...valueSchema } = schemaObject(entry);
      return {
        name,
        in: location,
        required: !isOptional(entry) || undefined,
        description,
        schema: schemaObjectOfEnumeration(entry) ?? withParsedDefault(valueSchema, entry),
        example: examples[name],
      };
    });
  });
}

/** Returns a reference to the component with the same options as a parameter, such as `BookGenre`, if there is one. */
function schemaObjectOfEnumeration(entry: any): Json | undefined {
  const { options } = entry.wrapped ?? entry;
  const component = options && Object.values(components).find((schema) => schema.options === options);
  return component && schemaObject(component);
}

/** Parses a parameter's default. In the schema of the request, the default is a string. */
function withParsedDefault({ default: text, ...schema }: Json, entry: v.GenericSchema): Json {
  return text === undefined ? schema : { ...schema, default: v.parse(entry, text) };
}
