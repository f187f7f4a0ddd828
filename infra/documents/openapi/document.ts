import { type JsonSchema, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { errorBody, errorCatalogue, type ErrorCode } from '../../../shared/contract/errors.ts';
import { stringifyJson } from '../../../shared/contract/json.ts';
import { messageExample, requestExamples, successExamples } from './examples.ts';
import {
  refusedByGateway,
  type HeaderKey,
  type AnswerHeaders,
  headersOfRefusal,
  responseHeaders,
  headersOfSuccess,
} from './headers.ts';
import {
  deprecationText,
  introduction,
  operationTexts,
  parameterTexts,
  petTexts,
  refusalTexts,
  schemaTexts,
} from './texts.ts';
import { type Operation, operations } from '../../../shared/contract/operations.ts';
import { NewPet, Pet, PetStatus } from '../../../shared/contract/schemas.ts';

type Json = Record<string, unknown>;

const codes = Object.keys(errorCatalogue) as ErrorCode[];
/** Refusals that are the same for every operation. */
const sharedRefusals: readonly ErrorCode[] = [
  'unauthorized',
  'forbidden',
  'too_many_requests',
  'gateway_timeout',
];
/** Refusals of what is no operation, with or without a key; what no authorizer and no function can refuse is not among them. */
const otherRefusals: readonly ErrorCode[] = [
  'not_found',
  'method_not_allowed',
  'unsupported_media_type',
  'invalid_request',
  'forbidden',
  'request_too_large',
  'too_many_requests',
  'internal_error',
];
/** Headers that several answers have, each time: others are written out where they are. */
const sharedHeaders = Object.entries(responseHeaders).filter(
  ([key]) => key !== 'NextPage' && key !== 'Allow',
);

/** The text of `openapi.json`. */
export function openApiJson(): string {
  return `${stringifyJson(openApiDocument(), 2)}\n`;
}

/**
 * The interface as an OpenAPI document, made of the operations and their schemas alone. Bounds of int64 are bigints.
 * https://spec.openapis.org/oas/v3.1.1
 */
function openApiDocument(): Json {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Pet store',
      version: '1.0.0',
      summary: 'Animals offered in a store',
      description: introduction + codes.map(catalogueRow).join(''),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      server('Production', 'base_url', 'https://petstore.example.com/v1'),
      server('Staging', 'staging_base_url', 'https://staging.petstore.example.com/v1'),
    ],
    security: [{ apiKey: [] }],
    tags: [{ name: 'pets', description: 'Animals offered in the store.' }],
    paths: paths(),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'API key',
          description: 'An API key of the stage: `Authorization: Bearer <API_KEY>`.',
        },
      },
      schemas: { ...petSchemas(), Error: errorSchema() },
      headers: Object.fromEntries(
        sharedHeaders.map(([key, { description, schema, example }]) => [
          key,
          { description, required: true, schema, example },
        ]),
      ),
      responses: Object.fromEntries(sharedRefusals.map((code) => [pascalCase(code), refusal(code)])),
    },
    'x-other-requests': {
      description: 'What any other address and method is told, with or without a key.',
      responses: Object.fromEntries(otherRefusals.map((code) => [errorCatalogue[code], refusal(code)])),
    },
  };
}

function catalogueRow(code: ErrorCode): string {
  return `| \`${code}\` | ${errorCatalogue[code]} | ${refusalTexts[code]} |\n`;
}

function server(stage: string, variable: string, example: string): Json {
  return {
    url: `{${variable}}`,
    description: stage,
    variables: {
      [variable]: {
        default: example,
        description: `Base address of ${stage.toLowerCase()}, with the version, as its operator gives it.`,
      },
    },
  };
}

/** Paths below the base address, which ends with the version. */
function paths(): Json {
  const items: Record<string, Json> = {};
  for (const operation of Object.values<Operation>(operations)) {
    const path = operation.path.replace('/v1', '');
    items[path] = {
      ...items[path],
      [operation.method.toLowerCase()]: operationObject(operation),
    };
  }
  return items;
}

function operationObject(operation: Operation): Json {
  const { id, summary, request, success, deprecation } = operation;
  const { path, query, headers, body } = request.entries;
  const texts = operationTexts[id as keyof typeof operations];
  const parameters = [
    ...parametersIn('path', path),
    ...parametersIn('query', query),
    ...parametersIn('header', headers),
  ];
  const refusals = [...new Set([...operation.errors, ...refusedByGateway])];
  return {
    operationId: id,
    summary,
    description: deprecation
      ? `${deprecationText(dayOf(deprecation.sunset))}\n\n${texts.description}`
      : texts.description,
    tags: ['pets'],
    ...(deprecation && { deprecated: true, 'x-sunset': deprecation.sunset.toISOString().slice(0, 10) }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: schemaOf(body), example: requestExamples.newPet },
        },
      },
    }),
    responses: {
      [success.status]: answer(
        texts.success,
        headersOfSuccess(operation),
        schemaOf(success.schema),
        successExamples[id as keyof typeof operations],
      ),
      ...Object.fromEntries(
        refusals.map((code) => [
          errorCatalogue[code],
          sharedRefusals.includes(code)
            ? { $ref: `#/components/responses/${pascalCase(code)}` }
            : refusal(code, operation),
        ]),
      ),
    },
  };
}

/** An answer that refuses a request, of any operation or of this one. */
function refusal(code: ErrorCode, operation?: Operation): Json {
  return answer(
    refusalTexts[code],
    headersOfRefusal(code, operation),
    { $ref: '#/components/schemas/Error' },
    errorBody(code, messageExample(code, operation?.id)),
  );
}

function answer(description: string, headers: AnswerHeaders, schema: Json, example: unknown): Json {
  return {
    description,
    headers: headersObject(headers),
    content: { 'application/json': { schema, example } },
  };
}

function headersObject(headers: AnswerHeaders): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([key, presence]) => {
      const { name, ...header } = responseHeaders[key as HeaderKey];
      const isShared = presence === 'always' && sharedHeaders.some(([shared]) => shared === key);
      return [
        name,
        isShared
          ? { $ref: `#/components/headers/${key}` }
          : { ...header, ...(presence === 'always' && { required: true }) },
      ];
    }),
  );
}

function parametersIn(
  place: 'path' | 'query' | 'header',
  schema: (v.GenericSchema & { entries?: Record<string, v.GenericSchema> }) | undefined,
): Json[] {
  return Object.entries(schema?.entries ?? {}).map(([name, entry]) => ({
    name,
    in: place,
    required: place === 'path',
    description: parameterTexts[name as keyof typeof parameterTexts],
    schema: parameterSchemaOf(entry),
    example: requestExamples[name as keyof typeof parameterTexts],
  }));
}

/** Pet, NewPet and PetStatus, with what their members mean. */
function petSchemas(): Json {
  const schemas = toJsonSchemaDefs(components, conversion);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      {
        description: schemaTexts[name as keyof typeof components],
        ...schema,
        ...(schema.properties && { properties: described(schema.properties) }),
      },
    ]),
  );
}

function described(properties: NonNullable<JsonSchema['properties']>): Json {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      { ...(schema as Json), description: petTexts[name as keyof typeof petTexts] },
    ]),
  );
}

function errorSchema(): Json {
  return {
    type: 'object',
    description: schemaTexts.Error,
    required: ['code', 'message', 'status'],
    properties: {
      code: { type: 'string', enum: codes, description: 'What programs decide by.' },
      message: { type: 'string', description: 'What is wrong, for people.' },
      status: {
        type: 'integer',
        enum: Object.values(errorCatalogue),
        description: 'The HTTP status code once more.',
      },
    },
  };
}

const components = { Pet, NewPet, PetStatus };

const conversion: Parameters<typeof toJsonSchema>[1] = {
  target: 'draft-2020-12',
  typeMode: 'input',
  definitions: components,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  // JSON has one kind of integer; its format and bounds are metadata, as are those that a check tells in code.
  overrideSchema: ({ valibotSchema }) => (valibotSchema.type === 'bigint' ? { type: 'integer' } : undefined),
  ignoreActions: ['check', 'min_value', 'max_value'],
};

function schemaOf(schema: v.GenericSchema): Json {
  const { $schema: _, $defs: __, ...converted } = toJsonSchema(schema, conversion);
  return converted;
}

/** The schema of a parameter, which arrives as text: a number's is in its metadata, with the default as a number. */
function parameterSchemaOf(schema: v.GenericSchema & { wrapped?: v.GenericSchema; default?: unknown }): Json {
  const wrapped: v.GenericSchema & { options?: unknown } = schema.wrapped ?? schema;
  if (wrapped.options === PetStatus.options) return schemaOf(PetStatus);
  const metadata = v.getMetadata(wrapped);
  return {
    ...('type' in metadata ? metadata : schemaOf(schema)),
    ...(schema.default !== undefined && { default: v.parse(schema, undefined) }),
  };
}

function pascalCase(code: ErrorCode): string {
  return code.replaceAll(/(?:^|_)(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

/** `5 December 2030`. */
function dayOf(date: Date): string {
  return date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
}
