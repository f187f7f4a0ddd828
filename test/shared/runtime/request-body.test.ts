import { describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parseRequest } from '../../../shared/runtime/request.ts';
import { apiGatewayEvent, createEvent } from '../../support/api-gateway-event.ts';
import { errorResponse } from './api-errors.ts';
import { books } from '../../support/books.ts';

const validBody = { title: 'Emma', shelf: 7, genre: 'crime' };
/** `validBody` after validation. */
const validBook = { ...validBody, shelf: 7n };
const VALID = JSON.stringify(validBody);

function bodyOf(event: APIGatewayProxyEvent): unknown {
  return parseRequest(books.operations.create, event).body;
}

function errorOf(event: APIGatewayProxyEvent): unknown {
  try {
    return bodyOf(event);
  } catch (error) {
    return error;
  }
}

describe('the body', () => {
  test.each([
    ['no headers', null],
    ['no media type', { 'Content-Type': '' }],
    ['white space and parameters', { 'Content-Type': ' Application/JSON ;charset=utf-8; a=b' }],
    ['a +json suffix', { 'content-type': 'application/vnd.example.v1+json' }],
    ['spaces around the equals sign', { 'Content-Type': 'application/json; charset = "utf-8"' }],
    ['a quoted charset', { 'Content-Type': 'application/json; a="\\";" ; Charset="UTF8"' }],
    ['"charset" in other parameters', { 'Content-Type': 'application/json; a=";charset=a";charsets=a' }],
    ['the encoding "identity"', { 'content-encoding': ' Identity , identity, ' }],
  ])('is accepted with %s', (_what, headers) => {
    expect(bodyOf(createEvent(VALID, { headers }))).toEqual(validBook);
  });

  // The service itself does not limit the length of headers, so it must also parse long headers quickly.
  test.each([';', '; ', ' ', '; a', '; a="', '; a="\\', '; a= ', '; a ="\\"'])(
    'is accepted with a megabyte of %j after the media type',
    (part) => {
      const type = `application/json;${part.repeat(1_000_000 / part.length)}`;
      expect(bodyOf(createEvent(VALID, { headers: { 'Content-Type': type } }))).toEqual(validBook);
    },
  );

  test.each([
    [
      'application/json',
      [
        'text/plain',
        'application/jsonp',
        'application/+json',
        'application/geo+json-seq',
        'notapplication/json',
        'notapplication/a+json',
        'application/a b+json',
      ],
    ],
    [
      '^The charset of Content-Type',
      [
        'application/json;charset=iso-8859-1',
        'application/json;  CHARSET="utf-16"',
        'application/json; charset="utf-8',
        'application/json; charset=utf-8"',
        'application/json; charset=x-utf-8',
        'application/json; charset=',
        'application/json; charset = "latin1"',
        'application/json; charset=utf-8; charset=latin1',
        'application/json; a="\\"" ;charset=latin1',
      ],
    ],
  ])('is rejected for its Content-Type with a message that matches %s', (message, contentTypes) => {
    for (const contentType of contentTypes) {
      const event = createEvent('{', { headers: { 'content-type': contentType } });
      expect([contentType, errorOf(event)]).toEqual([
        contentType,
        errorResponse('unsupported_media_type', message),
      ]);
    }
  });

  test('is rejected without parsing if a Content-Encoding is not identity', () => {
    const unsupported = errorResponse('unsupported_media_type', '^Content-Encoding must be');
    for (const codings of [
      ['gzip'],
      ['identity, br'],
      ['identitys'],
      ['x identity'],
      ['identity', 'gzip'],
      ['gzip', 'identity'],
    ]) {
      const event = createEvent('{', { multiValueHeaders: { 'content-encoding': codings } });
      expect([codings, errorOf(event)]).toEqual([codings, unsupported]);
    }
  });

  test.each([
    ['utf8', false],
    ['base64', true],
  ] as const)('is rejected only if it is larger than 64 KiB (%s)', (encoding, isBase64Encoded) => {
    const title = 'Em\u00eda \u20ac';
    const body = JSON.stringify({ ...validBody, title });
    const padding = ' '.repeat(65_536 - Buffer.byteLength(body));
    const [largest, larger] = [padding + body, `${padding} ${body}`].map((text) =>
      createEvent(Buffer.from(text).toString(encoding), { isBase64Encoded }),
    );
    expect(bodyOf(largest!)).toEqual({ ...validBook, title });
    expect(() => bodyOf(larger!)).toThrow(errorResponse('request_too_large', '65536'));
  });

  test('is rejected if it is not UTF-8 after Base64 decoding', () => {
    const bytes = Buffer.from(JSON.stringify({ ...validBody, title: 'Em\u00ffa' }), 'latin1');
    const event = createEvent(bytes.toString('base64'), { isBase64Encoded: true });
    expect(() => bodyOf(event)).toThrow(errorResponse('invalid_request', 'UTF-8'));
  });

  test('is rejected if API Gateway replaced invalid bytes, even in a field that the service ignores', () => {
    const event = createEvent(JSON.stringify({ ...validBody, unknown: 'Em\ufffda' }));
    expect(() => bodyOf(event)).toThrow(errorResponse('invalid_request', 'UTF-8'));
  });

  // V8's error messages for these texts contain no position, so the service gives general advice.
  test('is rejected with advice about values if a value is no JSON', () => {
    const advice = errorResponse(
      'invalid_request',
      '^The body is not valid JSON\\. Check for missing quotes, and for values such as NaN, None or undefined\\.$',
    );
    for (const body of [
      '{"title":Emma}',
      '{"shelf":NaN}',
      '{"shelf":+7}',
      '{"title":“Emma”}',
      '{"shelf":',
      '\n{"a":None }',
      'x (line 9 column 9)', // The text looks like a position.
    ]) {
      const long = body.replace('{', `{"unknown":"${'a'.repeat(1_000)}",`);
      const found = [body, long].map((one) => errorOf(createEvent(one)));
      expect([body, ...found]).toEqual([body, advice, advice]);
    }
  });

  test('is rejected with the name of its type if it is no object', () => {
    for (const [type, body] of [
      ['null', 'null'],
      ['an array', `[${VALID}]`],
      ['a string', JSON.stringify(VALID)],
      ['a number', '5'],
      ['a number', '5.5'],
      ['a boolean', 'true'],
    ]) {
      const error = errorResponse('invalid_request', `^The body must be a JSON object, not ${type}\\.$`);
      expect([body, errorOf(createEvent(body))]).toEqual([body, error]);
    }
  });

  test.each([
    ['is missing', null, '^The body is missing\\. It must be a JSON object\\.$'],
    [
      'contains a syntax error',
      `{${'\n'.repeat(9)}"title": "abc",}`,
      '^The body is not valid JSON at line 10, column 16\\.$',
    ],
    [
      'starts with a byte order mark',
      `\ufeff${VALID}`,
      '^The body must not start with a byte order mark\\.$',
    ],
    ['is nested too deeply', `{"title":${'['.repeat(32_000)}${']'.repeat(32_000)}}`, 'nested'],
  ])('is rejected if it %s', (_problem, body, word) => {
    expect(() => bodyOf(apiGatewayEvent({ body }))).toThrow(errorResponse('invalid_request', word));
  });

  test.each([
    [
      '{}',
      '^title is required, and must be a string of [^;]+; shelf is required, and must be an integer [^;]+\\.$',
    ],
    [
      JSON.stringify({ ...validBody, title: 5, genre: null }),
      '^title must be [^;]+; genre must be [^;]+\\.$',
    ],
    [JSON.stringify({ ...validBody, genre: null }), '^genre must be [^;]+$'],
    [
      JSON.stringify({ ...validBody, shelf: null }),
      '^shelf must be an integer from -\\d+ to \\d+, as a JSON number\\.$',
    ],
  ])('is rejected if it is %s, with a message that matches %s', (body, message) => {
    expect(() => bodyOf(createEvent(body))).toThrow(errorResponse('invalid_request', message));
  });
});
