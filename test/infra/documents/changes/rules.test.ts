import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { withoutReferences } from '../../../../infra/documents/changes/document.ts';
import { describeDifferences } from '../../../../infra/documents/changes/output.ts';
import { differences } from '../../../../infra/documents/changes/rules.ts';
import { add, type Change, move, remove, replace } from '../../../support/json-changes.ts';

function read(file: string): string {
  return readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8');
}

type Answers = Record<string, object>;
interface Document {
  paths: Record<string, Record<string, { responses: Answers; parameters: object[] }>>;
  'x-other-requests': { responses: Answers };
}

/** openapi.json with those answers alone that are changed here: comparing takes the library long. */
function sample(): Document {
  const document = JSON.parse(read('openapi.json')) as Document;
  const pets = document.paths['/pets']!;
  keep(pets['get']!, '200', '400', '401', '429');
  keep(pets['post']!, '201', '422');
  keep(document.paths['/pets/{petId}']!['get']!, '200');
  keep(document['x-other-requests'], '405');
  return document;
}

function keep(part: { responses: Answers }, ...statuses: string[]): void {
  part.responses = Object.fromEntries(statuses.map((status) => [status, part.responses[status]!]));
}

const source = JSON.stringify(sample());
const base = withoutReferences(source);

/** The differences that changes make in the document without references, as lines. */
function linesOf(...changes: Change[]): string[] {
  return linesBetween(base, changed(base, changes));
}

/** The differences that changes make in what is shared by reference, as lines. */
function linesOfShared(...changes: Change[]): string[] {
  return linesBetween(base, withoutReferences(changed(source, changes)));
}

function linesBetween(before: string, after: string): string[] {
  return describeDifferences(differences(before, after), before);
}

function changed(text: string, changes: Change[]): string {
  const document = JSON.parse(text) as object;
  for (const change of changes) change(document);
  return JSON.stringify(document);
}

const isBreaking = (line: string) => line.startsWith('breaking: ');
const fails = (line: string) => /^(breaking|unclassified): /.test(line);

const LIST = '/paths/~1pets/get';
const CREATE = '/paths/~1pets/post';
const GET = '/paths/~1pets~1{petId}/get';
const [LIMIT, STATUS, CURSOR] = ['0', '1', '2'].map((index) => `${LIST}/parameters/${index}`);
const SUNSET = `${GET}/x-sunset`;
const OTHERS = '/x-other-requests/responses';
const BODY = 'content/application~1json/schema';
const NEW_PET = `${CREATE}/requestBody/${BODY}`;
const PET = `${CREATE}/responses/201/${BODY}`;
const ERROR = `${LIST}/responses/400/${BODY}`;
const PET_BODY = 'content › application/json › schema';
const string = { type: 'string' };

describe('openapi.json', () => {
  test('breaks no client of the released interface', () => {
    const lines = linesBetween(
      withoutReferences(read('docs/openapi-released.json')),
      withoutReferences(read('openapi.json')),
    );
    expect(lines.filter(fails)).toEqual([]);
  });

  test('does not differ from itself, in whatever order parameters and values are', () => {
    const { parameters } = (JSON.parse(base) as Document).paths['/pets']!['get']!;
    const reordered = linesOf(
      replace(`${LIST}/parameters`, parameters.toReversed()),
      replace(`${NEW_PET}/properties/status/enum`, ['sold', 'pending', 'available']),
    );
    expect([linesOf(), reordered]).toEqual([[], []]);
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
      [remove(`${LIST}/responses/200/${BODY}/items/properties/status`)],
      `removed GET /pets › responses › 200 › ${PET_BODY} › items › properties › status`,
    ],
    [
      'a required member of an answer becomes optional',
      [remove(`${PET}/required/2`)],
      `removed POST /pets › responses › 201 › ${PET_BODY} › required › 2: "categoryId"`,
    ],
    [
      'the type of a member of an answer is changed',
      [replace(`${ERROR}/properties/message/type`, 'integer')],
      `changed GET /pets › responses › 400 › ${PET_BODY} › properties › message › type: "string" → "integer"`,
    ],
    [
      'a member of an answer may be null',
      [replace(`${PET}/properties/id/type`, ['integer', 'null'])],
      `changed POST /pets › responses › 201 › ${PET_BODY} › properties › id › type: "integer" → …`,
    ],
    [
      'a value is added to those of an answer',
      [add(`${ERROR}/properties/code/enum/-`, 'sold_out')],
      `added GET /pets › responses › 400 › ${PET_BODY} › properties › code › enum › 12: "sold_out"`,
    ],
    [
      'a member of an answer has another format',
      [replace(`${PET}/properties/id/format`, 'int32')],
      `changed POST /pets › responses › 201 › ${PET_BODY} › properties › id › format: "int64" → "int32"`,
    ],
    [
      'a header of an answer has another pattern',
      [replace(`${LIST}/responses/429/headers/Retry-After/schema/pattern`, '.')],
      'changed GET /pets › responses › 429 › headers › Retry-After › schema › pattern: "^\\\\d+$" → "."',
    ],
    [
      'a header of an answer has another constant',
      [replace(`${LIST}/responses/200/headers/Cache-Control/schema/const`, 'private')],
      'changed GET /pets › responses › 200 › headers › Cache-Control › schema › const: "no-store" → "private"',
    ],
    [
      'anything may be in an answer, where there was a list of values',
      [remove(`${ERROR}/properties/status/enum`)],
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
      'a header of an answer is no longer said to be sure',
      [remove(`${CREATE}/responses/201/headers/Location/required`)],
      'removed POST /pets › responses › 201 › headers › Location › required: true',
    ],
    [
      'a header of an answer is no longer sure',
      [replace(`${CREATE}/responses/201/headers/Location/required`, false)],
      'changed POST /pets › responses › 201 › headers › Location › required: true → false',
    ],
    [
      'the type of a header of an answer is changed',
      [replace(`${LIST}/responses/429/headers/Retry-After/schema/type`, 'integer')],
      'changed GET /pets › responses › 429 › headers › Retry-After › schema › type: "string" → "integer"',
    ],

    [
      'an answer to other requests is removed',
      [remove(`${OTHERS}/405`)],
      'removed x-other-requests › responses › 405',
    ],
    [
      'a header of an answer to other requests is removed',
      [remove(`${OTHERS}/405/headers/Allow`)],
      'removed x-other-requests › responses › 405 › headers › Allow',
    ],
    [
      'a value is added to those of an answer to other requests',
      [add(`${OTHERS}/405/${BODY}/properties/code/enum/-`, 'sold_out')],
      `added x-other-requests › responses › 405 › ${PET_BODY} › properties › code › enum › 12: "sold_out"`,
    ],
    ['nothing is said any more of other requests', [remove('/x-other-requests')], 'removed x-other-requests'],

    [
      'an operation goes away earlier',
      [replace(SUNSET, '2029-12-05')],
      'changed GET /pets/{petId} › x-sunset: "2030-12-05" → "2029-12-05"',
    ],
    [
      'an operation goes away at no day that can be read',
      [replace(SUNSET, 'soon')],
      'changed GET /pets/{petId} › x-sunset: "2030-12-05" → "soon"',
    ],
    [
      'nothing is said any more of when an operation goes away',
      [remove(SUNSET)],
      'removed GET /pets/{petId} › x-sunset: "2030-12-05"',
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
      'an operation demands a body',
      [add(`${LIST}/requestBody`, { required: true, content: { 'application/json': { schema: string } } })],
      'added GET /pets › requestBody',
    ],
    [
      'an operation requires another security scheme',
      [add(`${LIST}/security`, [{ signature: [] }])],
      'added GET /pets › security',
    ],
  ])('%s', (_what, changes, difference) => {
    const lines = linesOf(...changes);
    expect(lines).toContain(`breaking: ${difference}`);
    expect(lines.findLastIndex(isBreaking)).toBe(lines.filter(isBreaking).length - 1);
  });

  test('an operation that was open is not any more', () => {
    const before = changed(base, [add(`${LIST}/security`, [])]);
    expect(linesBetween(before, base)).toEqual(['breaking: removed GET /pets › security']);
  });

  test('members that are not known are taken no more', () => {
    const before = changed(source, [add(`${NEW_PET}/additionalProperties`, true)]);
    const after = changed(before, [replace(`${NEW_PET}/additionalProperties`, false)]);
    expect(linesBetween(withoutReferences(before), withoutReferences(after))).toEqual([
      expect.stringMatching(
        /^breaking: changed POST \/pets › requestBody .* additionalProperties: true → false$/,
      ),
    ]);
  });
});

describe('Clients break when what is shared by reference is changed:', () => {
  test('a value is removed that requests have, and answers', () => {
    expect(linesOfShared(remove('/components/schemas/PetStatus/enum/2'))).toContain(
      `breaking: removed POST /pets › requestBody › ${PET_BODY} › properties › status › enum › 2: "sold"`,
    );
  });

  test('a member is removed from every refusal, those of other requests too', () => {
    const lines = linesOfShared(
      remove('/components/schemas/Error/properties/message'),
      remove('/components/schemas/Error/required/1'),
    );
    for (const place of ['GET /pets › responses › 401', 'x-other-requests › responses › 405']) {
      expect(lines).toContain(`breaking: removed ${place} › ${PET_BODY} › properties › message`);
    }
  });

  test('a header is removed from an answer', () => {
    const header = '/components/responses/TooManyRequests/headers/Retry-After';
    expect(linesOfShared(remove(header))).toEqual([
      'breaking: removed GET /pets › responses › 429 › headers › Retry-After',
    ]);
  });
});

describe('Nobody knows whether clients break when', () => {
  test.each([
    [
      'a request is restricted in a way that no rule knows',
      [add(`${NEW_PET}/dependentRequired`, { name: ['status'] })],
      `added POST /pets › requestBody › ${PET_BODY} › dependentRequired`,
    ],
    [
      'an operation has something new of a kind that no rule knows',
      [add(`${LIST}/x-quota`, 1)],
      'added GET /pets › x-quota: 1',
    ],
    ['the document has such', [add('/x-quota', 1)], 'added x-quota: 1'],
  ])('%s', (_what, changes, difference) => {
    expect(linesOf(...changes)).toEqual([`unclassified: ${difference}`]);
  });
});

describe('An operation without parameters', () => {
  const before = changed(base, [remove(`${LIST}/parameters`)]);

  test.each([
    ['breaks clients when it gets a required one', true, 'breaking'],
    ['breaks nobody when it gets an optional one', false, 'non-breaking'],
  ])('%s', (_what, required, type) => {
    const parameter = { name: 'store', in: 'query', required, schema: string };
    const after = changed(before, [add(`${LIST}/parameters`, [parameter])]);
    expect(linesBetween(before, after)).toEqual([`${type}: added GET /pets › parameters`]);
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
      `non-breaking: added POST /pets › responses › 201 › ${PET_BODY} › properties › tag`,
    ],
    [
      'a member of an answer becomes required',
      [add(`${PET}/required/-`, 'status')],
      `non-breaking: added POST /pets › responses › 201 › ${PET_BODY} › required › 3: "status"`,
    ],
    [
      'a value is removed from those of an answer',
      [remove(`${ERROR}/properties/code/enum/2`)],
      `non-breaking: removed GET /pets › responses › 400 › ${PET_BODY} › properties › code › enum › 2: "forbidden"`,
    ],
    [
      'a status of a refusal is added',
      [add(`${LIST}/responses/410`, { description: 'Gone.' })],
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
      [add(`${CREATE}/responses/201/headers/x-amzn-RequestId/schema/maxLength`, 36)],
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
      'an operation goes away later',
      [replace(SUNSET, '2031-12-05')],
      'non-breaking: changed GET /pets/{petId} › x-sunset: "2030-12-05" → "2031-12-05"',
    ],
    [
      'the day is named on which an operation goes away',
      [add(`${LIST}/x-sunset`, '2035-12-05')],
      'deprecated: added GET /pets › x-sunset: "2035-12-05"',
    ],
    [
      'an answer to other requests is added',
      [add(`${OTHERS}/410`, { description: 'Gone.' })],
      'non-breaking: added x-other-requests › responses › 410',
    ],
    [
      'the name of an operation in programs is changed',
      [replace(`${LIST}/operationId`, 'pets')],
      'annotation: changed GET /pets › operationId: "listPets" → "pets"',
    ],
    [
      'the address of a server is changed',
      [replace('/servers/0/url', '{base}')],
      'annotation: changed servers › 0 › url: "{base_url}" → "{base}"',
    ],
    [
      'a tag is renamed',
      [replace('/tags/0/name', 'animals')],
      'annotation: changed tags › 0 › name: "pets" → "animals"',
    ],
    [
      'an example of a parameter is changed',
      [replace(`${LIMIT}/example`, 3)],
      'annotation: changed GET /pets › parameters › limit › example: 2 → 3',
    ],
    [
      'an example of a header is changed',
      [replace(`${LIST}/responses/429/headers/Retry-After/example`, '2')],
      'annotation: changed GET /pets › responses › 429 › headers › Retry-After › example: "1" → "2"',
    ],
    [
      'an example of a body has another member, of whatever name',
      [add(`${CREATE}/requestBody/content/application~1json/example/properties`, { type: 1 })],
      'annotation: added POST /pets › requestBody › content › application/json › example › properties',
    ],
    [
      'an example of a member is given',
      [add(`${NEW_PET}/properties/name/examples`, ['Rex'])],
      `annotation: added POST /pets › requestBody › ${PET_BODY} › properties › name › examples › 0: "Rex"`,
    ],
  ])('%s', (_what, changes, difference) => {
    const lines = linesOf(...changes);
    expect(lines.filter(fails)).toEqual([]);
    expect(lines).toContain(difference);
  });

  test('an example in a schema is changed, whatever its members are called', () => {
    const before = changed(base, [add(`${NEW_PET}/examples`, [{ type: 'dog' }])]);
    const after = changed(before, [replace(`${NEW_PET}/examples/0/type`, 'cat')]);
    expect(linesBetween(before, after)).toEqual([
      `annotation: changed POST /pets › requestBody › ${PET_BODY} › examples › 0 › type: "dog" → "cat"`,
    ]);
  });

  test('other requests are described in other words', () => {
    expect(linesOf(replace('/x-other-requests/description', 'Others.'))).toEqual([
      expect.stringMatching(/^annotation: changed x-other-requests › description: /),
    ]);
  });

  test('something is defined in another place, which is no difference', () => {
    const lines = linesOfShared(
      move('/components/schemas/Pet', '/components/schemas/Animal'),
      ...[
        `${LIST}/responses/200/content/application~1json/schema/items/$ref`,
        `${CREATE}/responses/201/content/application~1json/schema/$ref`,
        `${GET}/responses/200/content/application~1json/schema/$ref`,
      ].map((reference) => replace(reference, '#/components/schemas/Animal')),
    );
    expect(lines).toEqual([]);
  });
});
