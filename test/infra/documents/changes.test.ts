import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { differences } from '../../../infra/documents/changes/differences.ts';
import { withoutReferences } from '../../../infra/documents/openapi/references.ts';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';
import { errorOutput, runModule } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const file = join(temporaryFolder(), 'base.json');
const openApi: any = parseJson(readFileSync('openapi.json', 'utf8'));

// These are the starts of the paths in the reported lines.
const GET = 'paths › /books › get';
const LIMIT = `${GET} › parameters › limit`;
const GENRE = `${GET} › parameters › genre`;
const RETRY_AFTER = `${GET} › responses › 503 › headers › Retry-After`;
const POST = 'paths › /books › post';
const JSON_SCHEMA = 'content › application/json › schema';
const NEW_BOOK = `${POST} › requestBody › ${JSON_SCHEMA}`;
const BOOK = `${POST} › responses › 201 › ${JSON_SCHEMA}`;

// These functions return the parts of a document at these paths.
const getOf = (document: any): any => document.paths['/books'].get;
const parameterOf = (document: any, parameter: string): any =>
  getOf(document).parameters.find(({ name }: { name: string }) => name === parameter);
const retryAfterOf = (document: any): any => getOf(document).responses[503].headers['Retry-After'];
const postOf = (document: any): any => document.paths['/books'].post;
const jsonSchemaOf = ({ content }: any): any => content['application/json'].schema;
const newBookOf = (document: any): any => jsonSchemaOf(postOf(document).requestBody);
const bookOf = (document: any): any => jsonSchemaOf(postOf(document).responses[201]);

/** Changes a document in place. */
type Edit = (document: any) => unknown;

/** Returns a changed copy of a document. */
function edited(document: any, edit: Edit): any {
  const copy = parseJson(stringifyJson(document));
  edit(copy);
  return copy;
}

function remove(list: unknown[], item: unknown): void {
  list.splice(list.indexOf(item), 1);
}

const genre = { type: 'string', enum: ['novel', 'poetry'] };
const authorId = { type: 'integer', format: 'int64', maximum: 9_223_372_036_854_775_807n };
const newBook = {
  type: 'object',
  properties: { title: { type: 'string', minLength: 1 }, authorId, genre },
  required: ['title', 'authorId'],
};
const book = {
  type: 'object',
  properties: { id: { type: 'integer', minimum: 1 }, title: { type: 'string' }, authorId, genre },
  required: ['id', 'title', 'authorId'],
};
const limit = { type: 'integer', format: 'int32', minimum: 1, maximum: 100, default: 20 };
const retryAfter = { required: true, schema: { type: 'string', pattern: '^[0-9]+$' } };
const jsonOf = (schema: object) => ({ 'application/json': { schema } });

/** Small document without references, with the kinds of parts that openapi.json has. */
const sample = {
  info: { title: 'Book store' },
  security: [{ bearerAuth: [] }],
  paths: {
    '/books': {
      get: {
        parameters: [
          { name: 'limit', in: 'query', required: false, schema: limit },
          { name: 'genre', in: 'query', required: false, schema: genre },
        ],
        responses: {
          200: {
            headers: { Link: { schema: { type: 'string' } } },
            content: jsonOf({ type: 'array', items: book, maxItems: 100 }),
          },
          503: { headers: { 'Retry-After': retryAfter } },
        },
      },
      post: {
        'x-sunset': '2030-12-05',
        requestBody: { required: true, content: jsonOf(newBook) },
        responses: { 201: { content: jsonOf(book), links: { GetBook: { operationId: 'getBook' } } } },
      },
    },
    '/books/{bookId}': { get: { responses: {} } },
    '/stores': {},
  },
  components: {
    securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
  },
};
const base: any = parseJson(stringifyJson(sample));

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

/** Expects a single line that starts with `start`. The rest is not compared, because it can be a long value. */
function expectOneLine(lines: string[], start: string): void {
  expect(lines.map((line) => line.slice(0, start.length))).toEqual([start]);
}

const store = { name: 'store', in: 'query' };
const [in360Days, in370Days] = [daysFromNow(360), daysFromNow(370)];

const breaking: [line: string, Edit][] = [
  ['removed paths › /books/{bookId} › get: ', (it) => delete it.paths['/books/{bookId}'].get],
  [`removed ${GENRE}: `, (it) => remove(getOf(it).parameters, parameterOf(it, 'genre'))],
  [`changed ${GENRE} › required: false → true`, (it) => (parameterOf(it, 'genre').required = true)],
  [
    `added ${GET} › parameters › store: {"name":"store","in":"query","required":true}`,
    (it) => getOf(it).parameters.push({ ...store, required: true }),
  ],
  [
    `changed ${POST} › x-sunset: "2030-12-05" → "2029-12-05"`,
    (it) => (postOf(it)['x-sunset'] = '2029-12-05'),
  ],
  [`added ${GET} › x-stability: "beta"`, (it) => (getOf(it)['x-stability'] = 'beta')],
  [`added ${GET} › x-sunset: "${in360Days}"`, (it) => (getOf(it)['x-sunset'] = in360Days)],
  [`changed ${LIMIT} › schema › default: 20 → 10`, (it) => (parameterOf(it, 'limit').schema.default = 10n)],
  [
    `removed ${POST} › requestBody › content › application/json: `,
    (it) => delete postOf(it).requestBody.content['application/json'],
  ],
  [`added ${GENRE} › schema › maxLength: 10`, (it) => (parameterOf(it, 'genre').schema.maxLength = 10n)],
  [
    `removed ${GENRE} › schema › enum › "poetry": "poetry"`,
    (it) => remove(parameterOf(it, 'genre').schema.enum, 'poetry'),
  ],
  [`removed ${NEW_BOOK} › properties › genre: `, (it) => delete newBookOf(it).properties.genre],
  [`added ${NEW_BOOK} › required › "genre": "genre"`, (it) => newBookOf(it).required.push('genre')],
  [
    `changed ${NEW_BOOK} › properties › authorId › maximum: 9223372036854775807 → 9223372036854775806`,
    (it) => (newBookOf(it).properties.authorId.maximum = 9223372036854775806n),
  ],
  [`removed ${BOOK} › required › "authorId": `, (it) => remove(bookOf(it).required, 'authorId')],
  [
    `added ${BOOK} › properties › genre › enum › "drama": "drama"`,
    (it) => bookOf(it).properties.genre.enum.push('drama'),
  ],
  [
    `removed ${GET} › responses › 200 › headers › Link: `,
    (it) => delete getOf(it).responses[200].headers.Link,
  ],
  [`removed ${RETRY_AFTER} › required: true`, (it) => delete retryAfterOf(it).required],
  [`removed ${GET} › responses › 503: `, (it) => delete getOf(it).responses[503]],
  ['removed security › {"bearerAuth":[]}: {"bearerAuth":[]}', (it) => it.security.pop()],
  [
    'changed components › securitySchemes › bearerAuth › scheme: "bearer" → "basic"',
    (it) => (it.components.securitySchemes.bearerAuth.scheme = 'basic'),
  ],
];

const unclassified: [line: string, Edit][] = [
  ['added x-quota: 1', (it) => (it['x-quota'] = 1n)],
  ['added paths › /books › parameters: []', (it) => (it.paths['/books'].parameters = [])],
  [`changed ${GENRE} › in: "query" → "header"`, (it) => (parameterOf(it, 'genre').in = 'header')],
  [`added ${BOOK} › properties › title › oneOf: []`, (it) => (bookOf(it).properties.title.oneOf = [])],
  [
    `changed ${RETRY_AFTER} › schema › pattern: "^[0-9]+$" → "^[1-9]"`,
    (it) => (retryAfterOf(it).schema.pattern = '^[1-9]'),
  ],
  [
    `changed ${LIMIT} › schema: {"type":"integer","format":"int32","minimum":1,"maximum":100… → true`,
    (it) => (parameterOf(it, 'limit').schema = true),
  ],
];

const nonBreaking: [line: string, Edit][] = [
  ['added paths › /stores › post: {"responses":{}}', (it) => (it.paths['/stores'].post = { responses: {} })],
  [
    `added ${GET} › parameters › store: {"name":"store","in":"query"}`,
    (it) => getOf(it).parameters.push(store),
  ],
  [`added ${GET} › x-sunset: "${in370Days}"`, (it) => (getOf(it)['x-sunset'] = in370Days)],
  [
    `changed ${POST} › x-sunset: "2030-12-05" → "2031-12-05"`,
    (it) => (postOf(it)['x-sunset'] = '2031-12-05'),
  ],
  [
    `changed ${LIMIT} › schema › maximum: 100 → 200`,
    (it) => (parameterOf(it, 'limit').schema.maximum = 200n),
  ],
  [`removed ${GENRE} › schema › enum: `, (it) => delete parameterOf(it, 'genre').schema.enum],
  [
    `added ${NEW_BOOK} › properties › subtitle: {"type":"string"}`,
    (it) => (newBookOf(it).properties.subtitle = { type: 'string' }),
  ],
  [`removed ${NEW_BOOK} › required › "authorId": `, (it) => remove(newBookOf(it).required, 'authorId')],
  [`changed ${BOOK} › properties › id › minimum: 1 → 2`, (it) => (bookOf(it).properties.id.minimum = 2n)],
  [
    `changed ${GET} › responses › 200 › ${JSON_SCHEMA} › maxItems: 100 → 200`,
    (it) => (jsonSchemaOf(getOf(it).responses[200]).maxItems = 200n),
  ],
  [
    `added ${GET} › responses › 410: {"description":"Gone."}`,
    (it) => (getOf(it).responses[410] = { description: 'Gone.' }),
  ],
  [`removed ${POST} › responses › 201 › links: `, (it) => delete postOf(it).responses[201].links],
  ['changed info › title: "Book store" → "Books"', (it) => (it.info.title = 'Books')],
  [
    'removed components › securitySchemes › bearerAuth › description: ',
    (it) => delete it.components.securitySchemes.bearerAuth.description,
  ],
];

describe.each<[verdict: string, typeof breaking]>([
  ['breaking', breaking],
  ['cannot classify', unclassified],
  ['non-breaking', nonBreaking],
])('a change of the contract with the verdict "%s"', (verdict, changes) => {
  test.each(changes)('is reported as "%s"', (line, edit) => {
    expectOneLine(differences(base, edited(base, edit)), `${verdict}: ${line}`);
  });
});

test('changes and the removal of an experimental operation are non-breaking', () => {
  const experimental = edited(base, (it) => (postOf(it)['x-stability'] = 'experimental'));
  const changed = edited(experimental, (it) => newBookOf(it).required.push('genre'));
  const stable = edited(experimental, (it) => delete postOf(it)['x-stability']);
  const removed = edited(experimental, (it) => delete it.paths['/books'].post);
  const line = `the experimental operation ${POST}`;
  expect([changed, stable, removed].map((after) => differences(experimental, after))).toEqual([
    [`non-breaking: changed ${line}`],
    [`non-breaking: changed ${line}`],
    [`non-breaking: removed ${line}`],
  ]);
});

test.each([
  [daysFromNow(-2), 'non-breaking'],
  [daysFromNow(2), 'breaking'],
])('removing an operation with the sunset date %s is %s', (day, verdict) => {
  const announced = edited(base, (it) => (postOf(it)['x-sunset'] = day));
  const lines = differences(
    announced,
    edited(announced, (it) => delete it.paths['/books'].post),
  );
  expectOneLine(lines, `${verdict}: removed ${POST}: `);
});

/** Yields variants of a JSON value. In each variant, the value itself or one nested value is removed or replaced. */
function* variantsOf(value: unknown): Generator {
  yield* [undefined, 'other'];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    for (const variant of variantsOf(part)) {
      yield Array.isArray(value) ? value.with(Number(key), variant) : { ...value, [key]: variant };
    }
  }
}

test('a change of any value in openapi.json is reported', () => {
  const document = withoutReferences(openApi);
  const variants = [...variantsOf(document)];
  expect(variants.length).toBeGreaterThan(1_000);
  expect(variants.filter((variant) => differences(document, variant).length === 0)).toEqual([]);
});

test('a change of one of two parameters with the same name is reported', () => {
  const [before, after] = ['form', 'simple'].map((style) => [{ name: 'id', style }, { name: 'id' }]);
  expect(differences({ parameters: before }, { parameters: after })).toHaveLength(1);
});

test.each(['{}', 'null', '[]', '{"openapi":"3.1.0","paths":{}}', '{"swagger":"2.0","paths":{}}'])(
  'npm run openapi:diff rejects the document %s',
  async (document) => {
    writeFileSync(file, document);
    expect(errorOutput(await runModule('infra/documents/changes/main.ts', ['--base', file]))).toBe(
      `${file} is not an OpenAPI document of this service. Choose a file with --base.`,
    );
  },
);

test('npm run openapi:diff lists breaking changes first and explains how to continue', async () => {
  const document = edited(openApi, (it) => {
    it.info.title = 'Other title';
    it.components.schemas.Error.properties.details = { type: 'string' };
  });
  writeFileSync(file, stringifyJson(document));
  const { code, stdout, stderr } = await runModule('infra/documents/changes/main.ts', ['--base', file]);
  const lines = stdout.trimEnd().split('\n');
  const details = `${JSON_SCHEMA} › properties › details: {"type":"string"}`;
  expect(code).toBe(1);
  expect(lines.join('\n')).toMatch(
    new RegExp(
      `^breaking: removed paths › .* › responses › 404 › ${details.replaceAll(/[{}]/g, '\\$&')}$`,
      'm',
    ),
  );
  expect(lines.pop()).toBe(`non-breaking: changed info › title: "Other title" → "${openApi.info.title}"`);
  expect(lines.filter((line) => !line.startsWith('breaking: '))).toEqual([]);
  const summary = `${lines.length} of ${lines.length + 1} changes since ${file} break clients `;
  expect(stderr).toMatch(new RegExp(`^${summary}.*"Compatibility".*differences\\.ts\\.\\n$`));
});
