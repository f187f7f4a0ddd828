import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { errorCodes } from '../../../shared/contract/errors.ts';
import { type Operation, operations, type RequestParts } from '../../../shared/contract/operations.ts';
import { NewPet, Pet, PetStatus } from '../../../shared/contract/schemas.ts';

export type Json = Record<string, unknown>;

const components = { Pet, NewPet, PetStatus };
const bodies = new Set(Object.values<Operation>(operations).map(({ request }) => request.entries.body));

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

export function componentSchemas(): Json {
  const schemas = Object.entries(toJsonSchemaDefs(components, conversion)).map(([name, schema]) => [
    name,
    withTextRules(schema, bodies.has(components[name as keyof typeof components])),
  ]);
  return {
    ...Object.fromEntries(schemas),
    Error: {
      description: 'The body of every error response of the service.',
      type: 'object',
      required: ['code', 'message', 'status'],
      properties: {
        code: {
          type: 'string',
          'x-extensible-enum': errorCodes,
          description:
            'Error code for programs. New codes can be added, so handle unknown codes by `status`.',
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
    },
  };
}

/** Returns the JSON Schema of a value that clients send or receive. */
export function schemaObject(schema: v.GenericSchema, direction: 'sent' | 'received' = 'sent'): Json {
  const { $schema: _, $defs: __, ...converted } = toJsonSchema(schema, conversion);
  return withTextRules(converted, direction === 'sent');
}

/** Appends a text field's rules to the description. If clients receive the field, removes the rules and limits. */
function withTextRules(schema: any, isSent: boolean): any {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((part) => withTextRules(part, isSent));
  const { rules, type, description, ...limits } = schema;
  if (typeof rules === 'string') {
    const text = [description, rules].filter(Boolean).join(' ');
    return isSent ? { type, ...limits, description: text } : { type, description };
  }
  const parts = Object.entries(schema).map(([name, part]) => [name, withTextRules(part, isSent)]);
  return Object.fromEntries(parts);
}

/** Returns the schema's example at `index`, or an example composed of the entries' examples. Arrays have two items. */
export function exampleOf(schema: any, index = 0): any {
  const { entries, item, wrapped } = schema;
  const examples: readonly unknown[] = v.getExamples(schema);
  if (examples.length > 0) return examples[index] ?? examples[0];
  if (item) return [exampleOf(item), exampleOf(item, 1)];
  if (!entries) return wrapped && exampleOf(wrapped, index);
  const fields = Object.entries(entries);
  return Object.fromEntries(fields.map(([name, entry]) => [name, exampleOf(entry, index)]));
}

/** Returns the parameters of an operation. The examples of all parameters form one valid request. */
export function parameterObjects({ path, query, headers: header }: RequestParts): Json[] {
  return Object.entries<any>({ path, query, header }).flatMap(([location, schema]) => {
    const examples = schema && exampleOf(schema);
    return Object.entries<any>(schema?.entries ?? {}).map(([name, entry]) => {
      const { description, default: initial, ...converted } = schemaObject(entry);
      if (initial !== undefined) converted['default'] = v.parse(entry, initial);
      const isStatus = (entry.wrapped ?? entry).options === PetStatus.options;
      return {
        name,
        in: location,
        required: location === 'path',
        description,
        schema: isStatus ? schemaObject(PetStatus) : converted,
        example: examples[name],
      };
    });
  });
}

/**
 * Returns a copy of the document in which each reference is replaced with its target. Of the components, the copy
 * contains only the security schemes.
 *
 * @throws TypeError if a reference has no target
 */
export function withoutReferences(document: any): any {
  const { securitySchemes } = document.components;
  return resolve({ ...document, components: { securitySchemes } });

  function resolve(part: any): any {
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(resolve);
    const keys: string[] | undefined = part.$ref?.split('/').slice(1);
    const target = keys ? keys.reduce((parent, key) => parent[key], document) : part;
    return Object.fromEntries(Object.entries(target).map(([name, member]) => [name, resolve(member)]));
  }
}
