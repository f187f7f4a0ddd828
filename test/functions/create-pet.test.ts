import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import { handler } from '../../functions/create-pet.ts';
import { createEvent } from '../support/api-gateway-event.ts';
import { type ApiResponse, invoke } from '../support/invoke.ts';
import { counted, occurrences } from '../support/log-lines.ts';
import { conditionFailed, inputs, mock, setEnvironment } from '../support/mocked-database.ts';

setEnvironment({ PETS_TABLE: 'pets', IDEMPOTENCY_TABLE: 'records' });

const rex = '{"name":"Rex","categoryId":7,"status":"available"}';

interface Request {
  /** Value of the header Idempotency-Key. @default - the request has no such header */
  idempotencyKey?: string;
  headers?: Record<string, string>;
  /** Context that the authorizer returned for the API key. */
  authorizer?: Record<string, string>;
  isBase64Encoded?: boolean;
}

function create(
  body: string,
  { idempotencyKey, headers, authorizer, ...others }: Request = {},
): Promise<ApiResponse> {
  const sent = { ...headers, ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }) };
  const requestContext = { authorizer: authorizer ?? { firstKeyId: 'key_1' } };
  return invoke(handler, createEvent(body, { path: '/v1/pets', headers: sent, requestContext, ...others }));
}

describe('POST /pets returns a 201', () => {
  test('with the stored pet and its URL', async () => {
    mock.on(PutCommand).resolves({});
    const { status, headers, text, body } = await create(rex);
    const { id } = body;
    expect([status, text]).toEqual([201, rex.replace('{', `{"id":${id},`)]);
    expect(headers).toMatchObject({
      'Cache-Control': 'no-store',
      Location: `https://abc123.execute-api.eu-central-1.amazonaws.com/staging/v1/pets/${id}`,
    });
    expect(inputs()).toEqual([
      {
        TableName: 'pets',
        Item: {
          id,
          name: 'Rex',
          categoryId: 7n,
          status: 'available',
          creation: expect.stringMatching(/^\S{20,}$/),
          list: 'all',
        },
        ConditionExpression: 'attribute_not_exists(id)',
      },
    ]);
    expect(occurrences()).toEqual([counted('PetsCreated')]);
  });

  test('for a pet without a status', async () => {
    mock.on(PutCommand).resolves({});
    const { status, body } = await create('{"name":"Rex","categoryId":7}');
    expect([status, body]).toEqual([201, { id: expect.any(BigInt), name: 'Rex', categoryId: 7n }]);
  });

  test('and stores integers without rounding, and texts unchanged', async () => {
    mock.on(PutCommand).resolves({});
    const sent = '{"name":"🐕 \\u0000\\"é","categoryId":-9223372036854775808,"status":"sold"}';
    const { text } = await create(sent);
    expect(text.replace(/"id":\d+,/, '')).toBe(sent);
    expect(inputs()[0].Item).toMatchObject({ name: '🐕 \0"é', categoryId: -(2n ** 63n), status: 'sold' });
  });

  test('and drops unknown fields, such as an id', async () => {
    mock.on(PutCommand).resolves({});
    const { body } = await create(rex.replace('{', '{"id":5,"list":"x","price":1,'));
    expect(Object.keys(body)).toEqual(['id', 'name', 'categoryId', 'status']);
    expect(body.id).not.toBe(5n);
    expect(inputs()[0].Item).toMatchObject({ list: 'all' });
  });
});

describe('POST /pets with an Idempotency-Key', () => {
  const idempotencyKey = 'a-key';
  // Pets and idempotency records outlive a deployment. If a later version stored other hashes, a retry after its
  // deployment could store a duplicate or get a 422.
  const token = 'd744a8a89e9201765152741d6fd17a66626b9f8bd42a61e996143afa66270f64';
  /** SHA-256 of the body `rex`. */
  const fingerprint = 'a502a3f0713a02e8ec0f210c03e83cdc8f6f6943506699cdc08151d5061d00d3';
  const record = { token, fingerprint, itemId: 42n };

  test('stores a record with its hash before it stores the pet', async () => {
    mock.on(PutCommand).resolves({});
    const { id } = (await create(rex, { idempotencyKey })).body;
    expect(inputs().map(({ TableName, Item }) => [TableName, Item])).toEqual([
      ['records', { token, fingerprint, itemId: id, expiresAt: expect.any(Number) }],
      ['pets', expect.objectContaining({ id, creation: token })],
    ]);
  });

  test('has the same hash if API Gateway passes the body as Base64', async () => {
    mock.on(PutCommand).resolves({});
    await create(Buffer.from(rex).toString('base64'), { idempotencyKey, isBase64Encoded: true });
    expect(inputs()[0]).toMatchObject({ Item: { fingerprint } });
  });

  test('returns the stored pet to a retry, and a 422 to a request whose body differs in one byte', async () => {
    mock.on(PutCommand).rejects(conditionFailed);
    const stored = {
      id: 42n,
      name: 'Rex',
      categoryId: 7n,
      status: 'available',
      creation: token,
      list: 'all',
    };
    mock.on(GetCommand, { TableName: 'records' }).resolves({ Item: record });
    mock.on(GetCommand, { TableName: 'pets' }).resolves({ Item: stored });
    const retried = await create(rex, { idempotencyKey });
    expect(retried).toMatchObject({ status: 201, text: rex.replace('{', '{"id":42,') });
    expect(retried.headers['Location']).toMatch(/\/v1\/pets\/42$/);
    expect(occurrences()).toEqual([]);
    const other = await create(`${rex} `, { idempotencyKey });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  });

  test('replaces each id that another pet has taken, so that the key can be used again', async () => {
    const other = { name: 'Mia', categoryId: 7n, creation: 'another request' };
    mock.on(PutCommand, { TableName: 'records' }).resolves({});
    mock
      .on(PutCommand, { TableName: 'pets' })
      .rejectsOnce(conditionFailed)
      .rejectsOnce(conditionFailed)
      .resolves({});
    mock.on(GetCommand, { TableName: 'pets' }).callsFake(({ Key }) => ({ Item: { ...other, ...Key } }));
    const { status, body } = await create(rex, { idempotencyKey });
    const claims = inputs().filter(({ TableName, Item }) => TableName === 'records' && Item);
    const ids = claims.map(({ Item }) => Item.itemId);
    expect([status, body.id]).toEqual([201, ids[2]]);
    expect(claims.map((claim) => claim.ExpressionAttributeValues[':taken'])).toEqual([0n, ids[0], ids[1]]);
  });

  test('returns a 500 without a database call if the authorizer returned no id, which separates clients', async () => {
    const { status, body } = await create(rex, { idempotencyKey, authorizer: {} });
    expect([status, body.code]).toEqual([500, 'internal_error']);
    expect(inputs()).toEqual([]);
  });
});

describe('POST /pets stores nothing and returns', () => {
  test.each<[status: number, code: string, what: string, body: string, request?: Request, message?: string]>([
    [400, 'invalid_request', 'an empty body', ''],
    [400, 'invalid_request', 'an array', '[]'],
    [400, 'invalid_request', 'a body that is not JSON', '{"name":"Rex",}'],
    [
      400,
      'invalid_request',
      'a pet with several invalid fields, which it names all,',
      '{"name":" ","status":"lost"}',
      {},
      'name must be a string of 1 to 255 characters that are not all white space or control characters, without U+FFFD and unpaired surrogates; ' +
        'categoryId is required, and must be an integer from -9223372036854775808 to 9223372036854775807, as a JSON number; ' +
        'status must be "available", "pending" or "sold", or omitted.',
    ],
    [
      400,
      'invalid_request',
      'an Idempotency-Key with a space',
      rex,
      { idempotencyKey: 'two words' },
      'Idempotency-Key must be a single value of 1 to 255 visible ASCII characters, or such characters and spaces in double quotes (a key without quotes must not start with a double quote).',
    ],
    // The 403 comes before the 400, so that the key's owner first learns what no change of the body can resolve.
    [
      403,
      'forbidden',
      'a key that can only read, even if the body is invalid,',
      '{',
      { authorizer: { firstKeyId: 'key_1', canWrite: '' } },
      'This API key can only read. Use a key that can also write.',
    ],
    [413, 'request_too_large', 'a body of more than 64 KiB', rex.padEnd(65_537)],
    [
      415,
      'unsupported_media_type',
      'another media type than JSON',
      rex,
      { headers: { 'Content-Type': 'text/plain' } },
    ],
  ])('a %i %s for %s', async (status, code, _what, body, request = {}, message = '') => {
    const response = await create(body, request);
    const error = { code, message: expect.stringContaining(message), status };
    expect([response.status, JSON.parse(response.text)]).toEqual([status, error]);
    expect(inputs()).toEqual([]);
  });

  test.each([
    ['name', ['5', 'null', '""', '"\\u2003"', '"\\ud800"', `"${'🐕'.repeat(256)}"`]],
    ['categoryId', ['5.5', '9223372036854775808', '-9223372036854775809', '1e400', '"5"', 'null']],
    ['status', ['null', '""', '["sold"]', '"AVAILABLE"']],
  ])('a 400 for an invalid %s', async (field, values) => {
    for (const value of values) {
      // If a body repeats a field, the last value applies, so only this value is invalid.
      const { status, body } = await create(rex.replace('}', `,"${field}":${value}}`));
      const message = expect.stringMatching(`^${field} must be [^;]+$`);
      expect({ value, status, body }).toMatchObject({ value, status: 400, body: { message } });
    }
    expect(inputs()).toEqual([]);
  });

  test('a 503 if the clock is wrong, because ids follow from the time', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse('1972-01-01T00:00:00Z'));
    const { status, body } = await create(rex);
    expect([status, body.code]).toEqual([503, 'service_unavailable']);
    expect(inputs()).toEqual([]);
  });
});

test('POST /pets returns a 503 if the database throttles the write', async () => {
  mock.on(PutCommand).rejects(new ThrottlingException({ message: 'Slow down.', $metadata: {} }));
  const { status, body } = await create(rex);
  expect([status, body.code]).toEqual([503, 'service_unavailable']);
  expect(occurrences()).not.toContainEqual(counted('PetsCreated'));
});
