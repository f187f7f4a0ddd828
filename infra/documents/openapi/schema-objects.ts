import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { errorCodes } from '../../../shared/contract/errors.ts';
import { NewPet, Pet, PetStatus } from '../../../shared/contract/schemas.ts';
import { exampleOf } from './examples.ts';

export type Json = Record<string, unknown>;

const components = { Pet, NewPet, PetStatus };

const conversion: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'input',
  definitions: components,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  // JSON Schema has no bigint. The metadata contains the format, the limits and the rules that are implemented as code.
  overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'bigint' ? { type: 'integer' } : undefined),
  ignoreActions: ['check', 'min_value', 'max_value', 'examples'],
};

export function componentSchemas(): Json {
  return {
    ...toJsonSchemaDefs(components, conversion),
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

export function schemaObject(schema: v.GenericSchema): Json {
  const { $schema: _, $defs: __, ...converted } = toJsonSchema(schema, conversion);
  return converted;
}

type Entry = v.GenericSchema & { wrapped?: v.GenericSchema; default?: unknown };

export function parameterObjects(
  location: 'path' | 'query' | 'header',
  schema: (v.GenericSchema & { entries?: Record<string, Entry> }) | undefined,
): Json[] {
  return Object.entries(schema?.entries ?? {}).map(([name, entry]) => ({
    name,
    in: location,
    required: location === 'path',
    description: v.getDescription(entry) ?? (entry.wrapped && v.getDescription(entry.wrapped)),
    schema: parameterSchema(entry),
    example: exampleOf(entry),
  }));
}

/** Returns the schema of a parameter. Parameters are strings, so the schema of a numeric parameter is in its metadata. */
function parameterSchema(entry: Entry): Json {
  const schema: v.GenericSchema & { options?: unknown } = entry.wrapped ?? entry;
  if (schema.options === PetStatus.options) return schemaObject(PetStatus);
  const metadata = v.getMetadata(schema);
  const { description: _, ...converted } = 'type' in metadata ? metadata : schemaObject(schema);
  return { ...converted, ...(entry.default !== undefined && { default: v.parse(entry, undefined) }) };
}
