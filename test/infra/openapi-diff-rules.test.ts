import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { describeDifferences } from '../../infra/openapi-diff-output.ts';
import { differences, withoutReferences } from '../../infra/openapi-diff-rules.ts';
import { add, type Change, move, remove, replace } from '../support/json-changes.ts';

function read(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
}

interface Document {
  paths: Record<string, Record<string, { responses: object; parameters: object[] }>>;
}

/** openapi.json without most of the refusals, which are all alike: comparing them takes the library long. */
function sample(): Document {
  const document = JSON.parse(read('openapi.json')) as Document;
  for (const operation of Object.values(document.paths).flatMap((item) => Object.values(item))) {
    const answers = Object.entries(operation.responses);
    operation.responses = Object.fromEntries(
      answers.filter(([status]) => ['200', '201', '400', '401', '422', '429'].includes(status)),
    );
  }
  return document;
}

let base: string;
beforeAll(async () => {
  base = await withoutReferences(JSON.stringify(sample()));
});

/** The differences that changes make, as lines. */
async function linesOf(...changes: Change[]): Promise<string[]> {
  const document = sample();
  for (const change of changes) change(document);
  return describeDifferences(differences(base, await withoutReferences(JSON.stringify(document))), base);
}

const isBreaking = (line: string) => line.startsWith('breaking: ');

const LIST = '/paths/~1pets/get';
const CREATE = '/paths/~1pets/post';
const GET = '/paths/~1pets~1{petId}/get';
const [LIMIT, STATUS, CURSOR] = ['0', '1', '2'].map((index) => `${LIST}/parameters/${index}`);
const NEW_PET = '/components/schemas/NewPet';
const PET = '/components/schemas/Pet';
const PET_BODY = 'content › application/json › schema';
const string = { type: 'string' };

describe('openapi.json', () => {
  test('breaks no client of the released interface', async () => {
    const released = await withoutReferences(read('docs/openapi-released.json'));
    const found = differences(released, await withoutReferences(read('openapi.json')));
    const lines = describeDifferences(found, released);
    expect(lines.filter(isBreaking)).toEqual([]);
  });

  test('does not differ from itself, in whatever order parameters and values are', async () => {
    const { paths } = sample();
    const reordered = await linesOf(
      replace(`${LIST}/parameters`, paths['/pets']!['get']!.parameters.toReversed()),
      replace('/components/schemas/PetStatus/enum', ['sold', 'pending', 'available']),
    );
    expect([await linesOf(), reordered]).toEqual([[], []]);
  });
});

describe('Clients break when', () => {
  test.each([
    ['an operation is removed', [remove(GET)], 'removed GET /pets/{petId}'],
    ['an address is removed', [remove('/paths/~1pets')], 'removed POST /pets'],
    ['an address is renamed', [move('/paths/~1pets', '/paths/~1animals')], 'removed GET /pets'],
    ['a method is changed', [move(CREATE, '/paths/~1pets/put')], 'removed POST /pets'],

    [
      'a required parameter is added',
      [add(`${LIST}/parameters/0`, { name: 'store', in: 'query', required: true, schema: string })],
      'added GET /pets › parameters › store',
    ],
    ['a parameter is removed', [remove(STATUS!)], 'removed GET /pets › parameters › status'],
    [
      'a header of a request is removed',
      [remove(`${CREATE}/parameters/0`)],
      'removed POST /pets › parameters › Idempotency-Key',
    ],
    [
      'a parameter becomes required',
      [replace(`${STATUS}/required`, true)],
      'added GET /pets › parameters › status › required: true',
    ],
    [
      'the type of a parameter is changed',
      [replace(`${CURSOR}/schema/type`, 'integer')],
      'changed GET /pets › parameters › cursor › schema › type: "string" → "integer"',
    ],
    [
      'the maximum of a parameter is lowered',
      [replace(`${LIMIT}/schema/maximum`, 50)],
      'changed GET /pets › parameters › limit › schema › maximum: 100 → 50',
    ],
    [
      'the minimum of a parameter is raised',
      [replace(`${LIMIT}/schema/minimum`, 2)],
      'changed GET /pets › parameters › limit › schema › minimum: 1 → 2',
    ],
    [
      'the default of a parameter is changed',
      [replace(`${LIMIT}/schema/default`, 10)],
      'changed GET /pets › parameters › limit › schema › default: 20 → 10',
    ],
    [
      'a parameter gets a maximum length',
      [add(`${CURSOR}/schema/maxLength`, 10)],
      'added GET /pets › parameters › cursor › schema › maxLength: 10',
    ],
    [
      'a value that a parameter may have is removed',
      [remove(`${STATUS}/schema/enum/2`)],
      'removed GET /pets › parameters › status › schema › enum › 2: "sold"',
    ],

    [
      'a member of a request becomes required',
      [add(`${NEW_PET}/required/-`, 'status')],
      `added POST /pets › requestBody › ${PET_BODY} › required › 2: "status"`,
    ],
    [
      'a required member is added to a request',
      [add(`${NEW_PET}/properties/tag`, string), add(`${NEW_PET}/required/-`, 'tag')],
      `added POST /pets › requestBody › ${PET_BODY} › properties › tag`,
    ],
    [
      'a member of a request is removed',
      [remove(`${NEW_PET}/properties/status`)],
      `removed POST /pets › requestBody › ${PET_BODY} › properties › status`,
    ],
    [
      'the type of a member of a request is changed',
      [replace(`${NEW_PET}/properties/categoryId/type`, 'string')],
      `changed POST /pets › requestBody › ${PET_BODY} › properties › categoryId › type: "integer" → "string"`,
    ],
    [
      'a name may be less long',
      [replace(`${NEW_PET}/properties/name/maxLength`, 100)],
      `changed POST /pets › requestBody › ${PET_BODY} › properties › name › maxLength: 255 → 100`,
    ],
    [
      'a name has to match another pattern',
      [replace(`${NEW_PET}/properties/name/pattern`, '^[a-z]')],
      `changed POST /pets › requestBody › ${PET_BODY} › properties › name › pattern: "[^\\\\s\\\\u0085]" → "^[a-z]"`,
    ],
    [
      'a value that requests share with answers is removed',
      [remove('/components/schemas/PetStatus/enum/2')],
      `removed POST /pets › requestBody › ${PET_BODY} › properties › status › enum › 2: "sold"`,
    ],
    [
      'members that are not known are refused',
      [add(`${NEW_PET}/additionalProperties`, false)],
      `added POST /pets › requestBody › ${PET_BODY} › additionalProperties: false`,
    ],
    [
      'the media type of a request is changed',
      [
        move(
          `${CREATE}/requestBody/content/application~1json`,
          `${CREATE}/requestBody/content/application~1xml`,
        ),
      ],
      'removed POST /pets › requestBody › content › application/json',
    ],

    [
      'an optional member of an answer is removed',
      [remove(`${PET}/properties/status`)],
      `removed GET /pets › responses › 200 › ${PET_BODY} › items › properties › status`,
    ],
    [
      'a member of a refusal is removed, in an answer that operations share',
      [
        remove('/components/schemas/Error/properties/message'),
        remove('/components/schemas/Error/required/1'),
      ],
      `removed GET /pets › responses › 401 › ${PET_BODY} › properties › message`,
    ],
    [
      'a required member of an answer becomes optional',
      [remove(`${PET}/required/2`)],
      `removed GET /pets/{petId} › responses › 200 › ${PET_BODY} › required › 2: "categoryId"`,
    ],
    [
      'the type of a member of an answer is changed',
      [replace('/components/schemas/Error/properties/message/type', 'integer')],
      `changed GET /pets › responses › 400 › ${PET_BODY} › properties › message › type: "string" → "integer"`,
    ],
    [
      'a member of an answer may be null',
      [replace(`${PET}/properties/id/type`, ['integer', 'null'])],
      `changed POST /pets › responses › 201 › ${PET_BODY} › properties › id › type: "integer" → …`,
    ],
    [
      'a value is added to those of an answer',
      [add('/components/schemas/Error/properties/code/enum/-', 'sold_out')],
      `added GET /pets › responses › 400 › ${PET_BODY} › properties › code › enum › 12: "sold_out"`,
    ],
    [
      'a member of an answer has another format',
      [replace(`${PET}/properties/id/format`, 'int32')],
      `changed GET /pets/{petId} › responses › 200 › ${PET_BODY} › properties › id › format: "int64" → "int32"`,
    ],
    [
      'a header of an answer has another pattern',
      [replace('/components/headers/RetryAfter/schema/pattern', '.')],
      'changed GET /pets › responses › 429 › headers › Retry-After › schema › pattern: "^\\\\d+$" → "."',
    ],
    [
      'a header of an answer has another constant',
      [replace('/components/headers/CacheControl/schema/const', 'private')],
      'changed GET /pets › responses › 200 › headers › Cache-Control › schema › const: "no-store" → "private"',
    ],
    [
      'anything may be in an answer, where there was a list of values',
      [remove('/components/schemas/Error/properties/status/enum')],
      `removed GET /pets › responses › 400 › ${PET_BODY} › properties › status › enum › 0: 400`,
    ],
    [
      'a request has to have a value of a list, where there was none',
      [add(`${CURSOR}/schema/enum`, ['a'])],
      'added GET /pets › parameters › cursor › schema › enum › 0: "a"',
    ],
    [
      'a name in an answer may be longer',
      [replace(`${PET}/properties/name/maxLength`, 300)],
      `changed POST /pets › responses › 201 › ${PET_BODY} › properties › name › maxLength: 255 → 300`,
    ],
    [
      'the media type of an answer is changed',
      [
        move(
          `${GET}/responses/200/content/application~1json`,
          `${GET}/responses/200/content/application~1xml`,
        ),
      ],
      'removed GET /pets/{petId} › responses › 200 › content › application/json',
    ],
    [
      'the status of a success is changed',
      [move(`${CREATE}/responses/201`, `${CREATE}/responses/200`)],
      'removed POST /pets › responses › 201',
    ],
    [
      'a status of a refusal is removed',
      [remove(`${CREATE}/responses/422`)],
      'removed POST /pets › responses › 422',
    ],
    [
      'a header of an answer is removed',
      [remove(`${LIST}/responses/200/headers/Link`)],
      'removed GET /pets › responses › 200 › headers › Link',
    ],
    [
      'a header is removed from an answer that operations share',
      [remove('/components/responses/TooManyRequests/headers/Retry-After')],
      'removed GET /pets › responses › 429 › headers › Retry-After',
    ],
    [
      'a header of an answer is no longer said to be sure',
      [remove('/components/headers/Location/required')],
      'removed POST /pets › responses › 201 › headers › Location › required: true',
    ],
    [
      'a header of an answer is no longer sure',
      [replace('/components/headers/Location/required', false)],
      'changed POST /pets › responses › 201 › headers › Location › required: true → false',
    ],
    [
      'the type of a header of an answer is changed',
      [replace('/components/headers/RetryAfter/schema/type', 'integer')],
      'changed GET /pets › responses › 429 › headers › Retry-After › schema › type: "string" → "integer"',
    ],

    [
      'the security scheme is changed',
      [replace('/components/securitySchemes/apiKey/scheme', 'basic')],
      'changed components › securitySchemes › apiKey › scheme: "bearer" → "basic"',
    ],
    [
      'a security scheme is added',
      [add('/components/securitySchemes/signature', { type: 'http', scheme: 'signature' })],
      'added components › securitySchemes › signature',
    ],
    [
      'one more security scheme is required',
      [add('/security/0/signature', [])],
      'added security › 0 › signature',
    ],
    [
      'an operation requires another security scheme',
      [add(`${LIST}/security`, [{ signature: [] }])],
      'added GET /pets › security',
    ],
  ])('%s', async (_what, changes, difference) => {
    const lines = await linesOf(...changes);
    expect(lines).toContain(`breaking: ${difference}`);
    expect(lines.findLastIndex(isBreaking)).toBe(lines.filter(isBreaking).length - 1);
  });
});

/** The differences that one parameter makes where there was none, as lines. */
async function linesOfParameter(required: boolean): Promise<string[]> {
  const document = sample();
  remove(`${LIST}/parameters`)(document);
  const before = await withoutReferences(JSON.stringify(document));
  add(`${LIST}/parameters`, [{ name: 'store', in: 'query', required, schema: string }])(document);
  return describeDifferences(differences(before, await withoutReferences(JSON.stringify(document))), before);
}

describe('An operation without parameters', () => {
  test('breaks clients when it gets a required one', async () => {
    expect(await linesOfParameter(true)).toEqual(['breaking: added GET /pets › parameters']);
  });

  test('breaks nobody when it gets an optional one', async () => {
    expect(await linesOfParameter(false)).toEqual(['non-breaking: added GET /pets › parameters']);
  });
});

describe('Clients do not break when', () => {
  test.each([
    [
      'an operation is added',
      [add('/paths/~1stores', { get: { responses: { 200: { description: 'Stores.' } } } })],
      'non-breaking: added GET /stores',
    ],
    [
      'an optional parameter is added, before others too',
      [add(`${LIST}/parameters/0`, { name: 'store', in: 'query', schema: string })],
      'non-breaking: added GET /pets › parameters › store',
    ],
    [
      'a parameter in an address gets another name',
      [
        move('/paths/~1pets~1{petId}', '/paths/~1pets~1{id}'),
        replace('/paths/~1pets~1{id}/get/parameters/0/name', 'id'),
      ],
      'non-breaking: renamed paths: "/pets/{petId}" → "/pets/{id}"',
    ],
    [
      'the maximum of a parameter is raised',
      [replace(`${LIMIT}/schema/maximum`, 200)],
      'non-breaking: changed GET /pets › parameters › limit › schema › maximum: 100 → 200',
    ],
    [
      'the minimum of a parameter is lowered',
      [replace(`${LIMIT}/schema/minimum`, 0)],
      'non-breaking: changed GET /pets › parameters › limit › schema › minimum: 1 → 0',
    ],
    [
      'a value is added to those that a parameter may have',
      [add(`${STATUS}/schema/enum/-`, 'lost')],
      'non-breaking: added GET /pets › parameters › status › schema › enum › 3: "lost"',
    ],
    [
      'an optional member is added to a request',
      [add(`${NEW_PET}/properties/tag`, string)],
      `non-breaking: added POST /pets › requestBody › ${PET_BODY} › properties › tag`,
    ],
    [
      'a member of a request is no longer required',
      [remove(`${NEW_PET}/required/1`)],
      `non-breaking: removed POST /pets › requestBody › ${PET_BODY} › required › 1: "categoryId"`,
    ],
    [
      'a member is added to an answer',
      [add(`${PET}/properties/tag`, string)],
      `non-breaking: added GET /pets › responses › 200 › ${PET_BODY} › items › properties › tag`,
    ],
    [
      'a member of an answer becomes required',
      [add(`${PET}/required/-`, 'status')],
      `non-breaking: added GET /pets/{petId} › responses › 200 › ${PET_BODY} › required › 3: "status"`,
    ],
    [
      'a value is removed from those of an answer',
      [remove('/components/schemas/Error/properties/code/enum/2')],
      `non-breaking: removed GET /pets › responses › 400 › ${PET_BODY} › properties › code › enum › 2: "forbidden"`,
    ],
    [
      'a status of a refusal is added',
      [add(`${LIST}/responses/410`, { $ref: '#/components/responses/Forbidden' })],
      'non-breaking: added GET /pets › responses › 410',
    ],
    [
      'a header is added to an answer',
      [add(`${LIST}/responses/200/headers/Age`, { required: true, schema: string })],
      'non-breaking: added GET /pets › responses › 200 › headers › Age',
    ],
    [
      'a header of an answer becomes sure',
      [add(`${LIST}/responses/200/headers/Link/required`, true)],
      'non-breaking: added GET /pets › responses › 200 › headers › Link › required: true',
    ],
    [
      'a header of an answer is restricted',
      [add('/components/headers/RequestId/schema/maxLength', 36)],
      'non-breaking: added POST /pets › responses › 201 › headers › x-amzn-RequestId › schema › maxLength: 36',
    ],
    [
      'an operation is deprecated',
      [add(`${LIST}/deprecated`, true)],
      'deprecated: added GET /pets › deprecated: true',
    ],
    [
      'a description is changed',
      [replace(`${LIST}/summary`, 'Pets')],
      'annotation: changed GET /pets › summary: "List all animals, newest first" → "Pets"',
    ],
    [
      'an example is changed',
      [replace(`${LIMIT}/example`, 3)],
      'unclassified: changed GET /pets › parameters › limit › example: 2 → 3',
    ],
  ])('%s', async (_what, changes, difference) => {
    const lines = await linesOf(...changes);
    expect(lines.filter(isBreaking)).toEqual([]);
    expect(lines).toContain(difference);
  });

  test('something is defined in another place, which is no difference', async () => {
    const lines = await linesOf(
      move(PET, '/components/schemas/Animal'),
      ...[
        `${LIST}/responses/200/content/application~1json/schema/items/$ref`,
        `${CREATE}/responses/201/content/application~1json/schema/$ref`,
        `${GET}/responses/200/content/application~1json/schema/$ref`,
      ].map((reference) => replace(reference, '#/components/schemas/Animal')),
    );
    expect(lines).toEqual([]);
  });
});

describe('A document is refused', () => {
  test.each([
    ['nowhere', '#/components/schemas/Dog', /Can't resolve \$ref/],
    [
      'out of it',
      'https://petstore.example.com/openapi.json#/components/schemas/Pet',
      /^a reference leads out of it$/,
    ],
  ])('whose references lead %s', async (_where, reference, message) => {
    const document = sample();
    replace(`${CREATE}/requestBody/content/application~1json/schema/$ref`, reference)(document);
    await expect(withoutReferences(JSON.stringify(document))).rejects.toThrow(message);
  });
});
