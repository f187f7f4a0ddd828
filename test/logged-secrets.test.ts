import { ConditionalCheckFailedException, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomInt } from 'node:crypto';
import { inspect } from 'node:util';
import { handler as authorize } from '../functions/authorizer.ts';
import { handler as createPet } from '../functions/create-pet.ts';
import { handler as getPet } from '../functions/get-pet.ts';
import { handler as listPets } from '../functions/list-pets.ts';
import { generateApiKey } from '../shared/storage/api-keys.ts';
import { operations } from '../shared/contract/operations.ts';
import type { Handler } from '../shared/runtime/endpoint.ts';
import { logger } from '../shared/telemetry.ts';
import {
  apiGatewayEvent,
  getPetEvent,
  listPetsEvent,
  postPetEvent,
  REQUEST_ID,
} from './support/api-gateway-event.ts';
import { sharedSynthesis } from './support/assembly.ts';
import { setEnvironment } from './support/environment.ts';
import { invoke } from './support/invoke.ts';
import { type LocalService, startLocalService } from './support/local-service.ts';
import { logLines, occurrences, written } from './support/log-lines.ts';
import { mock } from './support/mocked-database.ts';
import { sendBytes } from './support/raw-http.ts';

// No log ever holds a key, an `Authorization` header or a body. Everything that a client can send is marked by a text
// that stands nowhere else, and all that was written is searched for the marks.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** So much of a mark is found too: some errors quote hardly more of a text. Chance needs 10^15 tries. */
const FRAGMENT_CHARACTERS = 9;

/** A text that stands nowhere else. */
function mark(): string {
  return Array.from({ length: 24 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

/** What a client sends in secret, by what it is. */
const secrets = {
  key: generateApiKey('staging'),
  otherKey: generateApiKey('staging'),
  name: mark(),
  member: mark(),
  categoryId: `9${Array.from({ length: 17 }, () => randomInt(10)).join('')}`,
  header: mark(),
  idempotencyKey: mark(),
  query: mark(),
};
type Secret = keyof typeof secrets;

/** Which of the secrets a text holds, whole or in part. */
function found(text: string, among: Record<string, string> = secrets): string[] {
  return Object.entries(among)
    .filter(([, secret]) =>
      fragments(secret)
        .flatMap(writings)
        .some((writing) => text.includes(writing)),
    )
    .map(([name]) => name);
}

/** The random part of a key, not what all keys begin with. Of digits, times hold some by chance too. */
function fragments(secret: string): string[] {
  const random = secret.replace(/^pets_[a-z]+_/, '');
  const length = /^\d+$/.test(random) ? 15 : FRAGMENT_CHARACTERS;
  return Array.from({ length: random.length - length + 1 }, (_, start) =>
    random.slice(start, start + length),
  );
}

/** A text, and how its bytes are written. Base64 needs the length to be a multiple of three. */
function writings(text: string): string[] {
  const bytes = Buffer.from(text);
  const hex = bytes.toString('hex');
  return [text, hex, hex.replaceAll(/..(?!$)/g, '$& '), bytes.join(','), bytes.toString('base64')];
}

const marked = `{"name":"${secrets.name}","categoryId":${secrets.categoryId},"note":"${secrets.member}"}`;

/** Bodies of every kind, by what is to be said of them. */
const bodies: Record<string, string> = {
  'a pet': marked,
  'an empty body': '',
  'a name that is too long': marked.replace(secrets.name, secrets.name.repeat(20)),
  'wrong types': `{"name":${secrets.categoryId},"categoryId":"${secrets.name}","status":"${secrets.member}"}`,
  'a key in a member': `{"name":"${secrets.name}","api_key":"${secrets.key}","status":"${secrets.otherKey}"}`,
  'a key as the name of a member': `{"${secrets.key}":"${secrets.name}"}`,
  'an array': `["${secrets.name}"]`,
  'a text': `"${secrets.name}"`,
  'JSON that breaks off': marked.slice(0, -20),
  'JSON with garbage within': `{"name":${secrets.name}}`,
  'no JSON': secrets.name,
  'a form': `name=${secrets.name}&key=${secrets.key}`,
  'a nesting too deep': `${'['.repeat(30_000)}"${secrets.name}"`,
  'more than 64 KiB': marked.replace(secrets.name, secrets.name.repeat(3_000)),
};

describe('the search', () => {
  test.each<[string, (text: string) => void]>([
    ['the logger', (text) => logger.error('No luck', { event: { body: text } })],
    ['the console', (text) => console.log(text)],
    ['the console for errors', (text) => console.error({ headers: { Authorization: `Bearer ${text}` } })],
    ['the standard output', (text) => process.stdout.write(text)],
    ['the standard error', (text) => process.stderr.write(text)],
  ])('finds each secret, whole or in part, that %s writes', (_name, write) => {
    for (const secret of Object.keys(secrets) as Secret[]) {
      write(secrets[secret].slice(-18));
      expect(found(written())).toContain(secret);
    }
  });

  test.each<[string, (text: string) => unknown]>([
    ['a buffer', (text) => ({ rawPacket: Buffer.from(text) })],
    ['a buffer in JSON', (text) => JSON.stringify(Buffer.from(text))],
    ['hexadecimal digits', (text) => Buffer.from(text).toString('hex')],
    ['base64', (text) => Buffer.from(text).toString('base64')],
  ])('finds one that is written as %s', (_what, wrap) => {
    for (const before of ['', 'a', 'ab']) {
      const secret = mark();
      console.log(wrap(before + secret));
      expect(found(written(), { secret })).toEqual(['secret']);
    }
  });
});

describe('the functions', () => {
  setEnvironment({
    STAGE: 'staging',
    API_KEYS_TABLE: 'keys',
    PETS_TABLE: 'pets',
    INTENTS_TABLE: 'intents',
    LIST_PARTITIONS: '1',
  });

  const headers = {
    Authorization: `Bearer ${secrets.key}`,
    'X-Api-Key': secrets.otherKey,
    Cookie: `session=${secrets.header}`,
    'User-Agent': secrets.header,
    [`X-${secrets.header}`]: 'name',
  };
  const query = { api_key: [secrets.otherKey], [secrets.query]: ['name'] };
  const multiValueHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value]]),
  );
  const request = {
    headers,
    multiValueHeaders,
    multiValueQueryStringParameters: query,
    requestContext: {
      authorizer: { keyId: 'key_1' },
      identity: { userAgent: secrets.header } as never,
    },
  };

  /** The same with an `Idempotency-Key`, given as often as it has values. */
  const repeatable = (...values: string[]) => ({
    ...request,
    headers: { ...headers, 'Idempotency-Key': values.at(-1)! },
    multiValueHeaders: { ...multiValueHeaders, 'Idempotency-Key': values },
  });

  type Call = [what: string, handler: Handler, event: ReturnType<typeof apiGatewayEvent>];

  /** One that reaches the database, for each function. */
  const calls: Call[] = [
    ['createPet', createPet, postPetEvent(marked, request)],
    ['createPet in base64', createPet, postPetEvent(base64(marked), { ...request, isBase64Encoded: true })],
    [
      'createPet with an Idempotency-Key',
      createPet,
      postPetEvent(marked, repeatable(`"${secrets.idempotencyKey}"`)),
    ],
    ['getPet', getPet, getPetEvent('42', { ...request, body: marked })],
    ['listPets', listPets, apiGatewayEvent({ ...request, body: marked })],
  ];

  test('are all called here: one that is missing is to be added to `calls`', () => {
    const called = new Set(calls.map(([what]) => what));
    expect(Object.keys(operations).filter((id) => !called.has(id))).toEqual([]);
  });

  const refusedCalls: Call[] = [
    ...Object.entries(bodies)
      .filter(([what]) => what !== 'a pet')
      .flatMap(([what, body]): Call[] => [
        [`createPet with ${what}`, createPet, postPetEvent(body, request)],
        [
          `createPet with ${what} in base64`,
          createPet,
          postPetEvent(base64(body), { ...request, isBase64Encoded: true }),
        ],
      ]),
    [
      'createPet with bytes that are not UTF-8',
      createPet,
      postPetEvent(Buffer.from(`${marked}\xff`, 'latin1').toString('base64'), {
        ...request,
        isBase64Encoded: true,
      }),
    ],
    [
      'createPet with another media type',
      createPet,
      postPetEvent(marked, {
        ...request,
        multiValueHeaders: { ...multiValueHeaders, 'Content-Type': [`text/${secrets.header}`] },
      }),
    ],
    ...[
      [`"${secrets.idempotencyKey}`],
      [`${secrets.idempotencyKey} ${secrets.key}`],
      [secrets.idempotencyKey.repeat(11)],
      [secrets.idempotencyKey, secrets.otherKey],
    ].map((values, index): Call => [
      `createPet with a wrong Idempotency-Key (${index + 1})`,
      createPet,
      postPetEvent(marked, repeatable(...values)),
    ]),
    ...Object.keys({ limit: 0, status: 0, cursor: 0 }).map((name): Call => [
      `listPets with a wrong ${name}`,
      listPets,
      listPetsEvent(
        { [name]: [secrets.query, secrets.key] },
        { ...request, multiValueQueryStringParameters: { [name]: [secrets.query] } },
      ),
    ]),
    ['getPet with a key in the path', getPet, getPetEvent(secrets.key, request)],
    ['getPet with what cannot be decoded', getPet, getPetEvent(`${secrets.query}%`, request)],
  ];

  test.each(calls)('write nothing of what was sent to %s', async (_what, handler, event) => {
    mock.on(PutCommand).resolves({});
    mock.on(QueryCommand).resolves({ Items: [] });
    mock
      .on(GetCommand)
      .resolves({ Item: { id: 42n, name: secrets.name, categoryId: BigInt(secrets.categoryId) } });
    expect((await invoke(handler, event)).status).toBeLessThan(300);
    expect(found(written())).toEqual([]);
  });

  test.each(refusedCalls)(
    'write nothing of what was sent to %s, which they refuse',
    async (_what, handler, event) => {
      expect([400, 404, 413, 415]).toContain((await invoke(handler, event)).status);
      expect(occurrences()).toContainEqual(expect.objectContaining({ name: 'Refusals' }));
      expect(logLines()).toEqual([]);
      expect(found(written())).toEqual([]);
    },
  );

  test('write nothing of an Idempotency-Key that was used for another pet', async () => {
    mock
      .on(PutCommand)
      .rejects(new ConditionalCheckFailedException({ message: secrets.idempotencyKey, $metadata: {} }));
    mock.on(GetCommand).resolves({ Item: { token: secrets.idempotencyKey, fingerprint: 'another' } });
    const event = postPetEvent(marked, repeatable(secrets.idempotencyKey));
    expect((await invoke(createPet, event)).status).toBe(422);
    expect(occurrences()).toContainEqual(expect.objectContaining({ name: 'Refusals' }));
    expect(found(written())).toEqual([]);
  });

  describe('write nothing of what was sent, but the id of the request, when the database', () => {
    const $metadata = {
      httpStatusCode: 400,
      requestId: 'request of the SDK',
      attempts: 1,
      totalRetryDelay: 0,
    };
    const Item = { name: { S: secrets.name }, categoryId: { N: secrets.categoryId } };
    const response = { headers: { ...headers }, body: marked };

    /** Faults, as made by a call with this input. What a response says beside its message, the SDK keeps in the error. */
    const faults: [what: string, fault: (quoted: string) => unknown][] = [
      [
        'refuses the values and quotes them',
        (message) =>
          new DynamoDBServiceException({ name: 'ValidationException', $fault: 'client', message, $metadata }),
      ],
      [
        'refuses the values and quotes them in lines that look like those of a stack',
        (message) =>
          new DynamoDBServiceException({
            name: 'ValidationException',
            $fault: 'client',
            message: `No:\n    at ${message}`,
            $metadata,
          }),
      ],
      [
        'refuses the values and returns the request',
        (quoted) =>
          Object.assign(
            new DynamoDBServiceException({
              name: 'ValidationException',
              $fault: 'client',
              message: 'No.',
              $metadata,
            }),
            { Item, request: quoted, $response: response, $responseBodyText: marked },
          ),
      ],
      [
        'finds a condition failed and returns the item',
        () =>
          Object.assign(new ConditionalCheckFailedException({ message: 'No.', $metadata, Item }), {
            name: 'Else',
          }),
      ],
      [
        'cancels and returns the items',
        () =>
          Object.assign(new Error('No.'), {
            name: 'TransactionCanceledException',
            CancellationReasons: [{ Item }],
          }),
      ],
      [
        'throttles and returns the request',
        (quoted) =>
          Object.assign(new Error('No.'), { name: 'ThrottlingException', $metadata, input: quoted }),
      ],
      [
        'cannot be reached',
        (quoted) =>
          Object.assign(new AggregateError([new Error(quoted)]), {
            code: 'ECONNREFUSED',
            port: 443,
            request: quoted,
          }),
      ],
      [
        'does not answer in time',
        (quoted) =>
          Object.assign(new Error('No.'), { name: 'TimeoutError', $metadata, config: { data: quoted } }),
      ],
      ['answers with what is no JSON', () => thrownBy(() => JSON.parse(`{"Item":{"name":${secrets.name}}}`))],
      [
        'answers with a number that is none',
        () => thrownBy(() => BigInt(`${secrets.categoryId}.${secrets.name}`)),
      ],
      [
        'answers with a number that is no integer',
        () => new RangeError(`The number ${secrets.categoryId} cannot be converted to a BigInt`),
      ],
      [
        'fails because of such an error',
        (quoted) => new Error('No.', { cause: Object.assign(new Error('No.'), { quoted }) }),
      ],
      ['fails because of a text', (quoted) => new Error('No.', { cause: quoted })],
      ['fails because of an object', (quoted) => new Error('No.', { cause: { quoted } })],
      [
        'fails with an error that writes itself as JSON',
        (quoted) => Object.assign(new Error('No.'), { toJSON: () => quoted }),
      ],
      ['throws a text', (quoted) => quoted],
      ['throws an object', (quoted) => ({ quoted, message: quoted, response })],
      ['throws nothing', () => undefined],
    ];

    function fail(fault: (quoted: string) => unknown): void {
      mock.onAnyCommand().callsFake(async (input) => {
        const error = fault(`${inspect(input, { depth: Infinity })} ${marked}`);
        throw error;
      });
    }

    test.each(faults)('%s', async (_what, fault) => {
      fail(fault);
      for (const [index, [, handler, event]] of calls.entries()) {
        expect((await invoke(handler, event)).status).toBeGreaterThanOrEqual(500);
        expect(logLines()).toHaveLength(index + 1);
      }
      expect(logLines()).toEqual(
        Array(calls.length).fill(expect.objectContaining({ requestId: REQUEST_ID })),
      );
      expect(found(written())).toEqual([]);
    });

    test('never answers', async () => {
      mock.onAnyCommand().callsFake(async () => new Promise<never>(() => {}));
      for (const [, handler, event] of calls) expect((await invoke(handler, event, 1)).status).toBe(503);
      expect(logLines()).toEqual(
        Array(calls.length).fill(expect.objectContaining({ requestId: REQUEST_ID })),
      );
      expect(found(written())).toEqual([]);
    });

    // The authorizer throws, and Lambda logs what it throws. The table's key is a hash: that is all it could quote.
    test.each(faults.slice(0, 2).concat(faults.slice(4, 7)))(
      '%s, and the authorizer throws',
      async (_what, fault) => {
        mock.onAnyCommand().callsFake(async (input) => {
          const {
            name,
            $metadata: metadata,
            code,
          } = fault('') as DynamoDBServiceException & { code?: string };
          throw Object.assign(new Error(inspect(input, { depth: Infinity })), {
            name,
            input,
            code,
            $metadata: metadata,
          });
        });
        const token = {
          type: 'TOKEN',
          authorizationToken: `Bearer ${secrets.key}`,
          methodArn: 'arn:aws:execute-api/a/b/c',
        };
        const error: unknown = await authorize(token as never).catch((caught: unknown) => caught);
        const logged = [written(), inspect(error, { depth: Infinity }), asLambdaLogs(error)].join('\n');
        expect(logged).toContain("TableName: 'keys'"); // what it quotes is there
        expect(found(logged)).toEqual([]);
      },
    );
  });

  test.each([
    ['a key that nobody has', `Bearer ${secrets.key}`],
    ['a key with a typing error', `Bearer ${secrets.key.slice(0, -1)}`],
    ['two keys', `Bearer ${secrets.key},Bearer ${secrets.otherKey}`],
    ['another scheme', `Basic ${secrets.header}`],
    ['no scheme', secrets.key],
  ])('write nothing of the header when the authorizer refuses %s', async (_what, authorizationToken) => {
    mock.on(GetCommand).resolves({});
    const answer = await authorize({
      type: 'TOKEN',
      authorizationToken,
      methodArn: 'arn:aws:execute-api/a/b/c',
    });
    expect(answer).toMatchObject({ principalId: 'nobody' });
    expect(found(written())).toEqual([]);
  });
});

describe('the local service, as talkative as it can be,', () => {
  /** A path is no secret: logs name it. */
  const place = mark();
  interface Init extends RequestInit {
    headers?: Record<string, string>;
  }

  let service: LocalService;
  let banner: string;
  /** All that it printed after its start. */
  let printed: string;

  function request(path: string, init: Init = {}, key = service.apiKey): Promise<Response> {
    return fetch(`${service.baseAddress}${path}`, {
      ...init,
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        Cookie: secrets.header,
        'User-Agent': secrets.header,
        'X-Api-Key': secrets.otherKey,
        ...init.headers,
      },
    });
  }

  function sendRaw(...parts: (string | Buffer)[]): Promise<unknown> {
    return sendBytes(Number(new URL(service.baseAddress).port), ...parts);
  }

  const statuses: Record<string, number> = {};
  async function note(what: string, answer: Promise<Response>): Promise<void> {
    const { status } = await answer;
    statuses[what] = status;
  }

  beforeAll(async () => {
    service = await startLocalService('--verbose', '--assembly', (await sharedSynthesis()).assembly);
    banner = service.output().slice(0, service.output().indexOf('/pets\n') + '/pets\n'.length);
    const secretQuery = `${secrets.query}=1&api_key=${secrets.key}&Authorization=Bearer+${secrets.otherKey}`;

    for (const [what, body] of Object.entries(bodies)) {
      await note(what, request(`/pets?${secretQuery}`, { method: 'POST', body }));
    }
    const form = { 'Content-Type': `text/${secrets.header}` };
    await note('a media type', request('/pets', { method: 'POST', body: marked, headers: form }));
    const repeatable = { 'Idempotency-Key': secrets.idempotencyKey };
    const create = (body: string, init: Init) => request('/pets', { method: 'POST', body, ...init });
    await note('a pet that may be asked for again', create(marked, { headers: repeatable }));
    await note('the same again', create(marked, { headers: repeatable }));
    const otherPet = marked.replace(secrets.name, secrets.member);
    await note('another pet under its key', create(otherPet, { headers: repeatable }));
    const wrong = { 'Idempotency-Key': `"${secrets.idempotencyKey}` };
    await note('a wrong Idempotency-Key', create(marked, { headers: wrong }));
    await note('a list', request(`/pets?${secretQuery}`));
    for (const name of ['limit', 'status', 'cursor']) {
      await note(`a wrong ${name}`, request(`/pets?${name}=${secrets.query}`));
    }
    await note('another address', request(`/${place}?${secretQuery}`, { method: 'POST', body: marked }));
    await note('another method', request(`/pets?${secretQuery}`, { method: 'DELETE', body: marked }));
    const image = { 'Content-Type': `image/${secrets.header}` };
    await note(
      'another method with an image',
      request('/pets', { method: 'PUT', body: marked, headers: image }),
    );
    await note('a key that nobody has', request('/pets', {}, secrets.otherKey));
    await note('the same from its cache', request('/pets', {}, secrets.otherKey));
    await note('a key with a typing error', request('/pets', {}, secrets.key.slice(0, -1)));
    await note('the local key and more', request('/pets', {}, `${service.apiKey}x`));
    const basic = { Authorization: `Basic ${secrets.header}` };
    await note('another scheme', request('/pets', { headers: basic, method: 'POST', body: marked }));
    await note(
      'more than 10 MB',
      request(`/pets?${secretQuery}`, { method: 'POST', body: marked.repeat(120_000) }),
    );

    const authorization = `Authorization: Bearer ${service.apiKey}\r\n`;
    const close = `Host: localhost\r\nConnection: close\r\n${authorization}`;
    const length = `Content-Length: ${marked.length}\r\n`;
    await sendRaw(`${secrets.key}\r\n\r\n`);
    await sendRaw(`GET /v1/pets ${secrets.key} HTTP/1.1\r\n${close}\r\n`);
    await sendRaw(`${secrets.header} /v1/pets HTTP/1.1\r\n${close}\r\n`);
    await sendRaw(`GET /v1/pets HTTP/1.1\r\n${close}X ${secrets.header}: ${secrets.key}\r\n\r\n`);
    await sendRaw(`GET /v1/pets HTTP/1.1\r\n${close}X: ${secrets.header.repeat(500)}\r\n\r\n`);
    await sendRaw(
      `GET /v1/pets?${secretQuery} HTTP/1.1\r\nHost: ${secrets.header}/\r\n${authorization}Connection: close\r\n\r\n`,
    );
    await sendRaw(`POST /v1/pets HTTP/1.1\r\n${close}${length}Transfer-Encoding: chunked\r\n\r\n${marked}`);
    await sendRaw(`POST /v1/pets HTTP/1.1\r\n${close}${length}\r\n${marked}${secrets.key}\r\n\r\n`);
    await sendRaw(`CONNECT ${secrets.header}:80 HTTP/1.1\r\n${close}\r\n`);
    await sendRaw(`GET http://user:${secrets.key}@localhost/v1/pets?${secretQuery} HTTP/1.1\r\n${close}\r\n`);
    await sendRaw(`GET http://user:${secrets.key}@localhost?${secretQuery} HTTP/1.1\r\n${close}\r\n`);

    // What functions write arrives later than their answers, but in order: the last of each is waited for.
    await note('no pet', request(`/pets/1234567890?${secretQuery}`));
    await service.printed(/"operation":"getPet"/);
    await note('a wrong limit at last', request('/pets?limit=1000'));
    await service.printed(/GET \/v1\/pets 400 /);
    await note('a pet at last', request('/pets', { method: 'POST', body: marked }));
    await service.printed(/(?:"PetsCreated":1[^]*){3}/);
    await service.stop();
    printed = service.output().slice(banner.length);
  });

  afterAll(() => service.stop());

  test('answers in each of its ways', () => {
    expect(statuses).toEqual({
      'a pet': 201,
      'an empty body': 400,
      'a name that is too long': 400,
      'wrong types': 400,
      'a key in a member': 400,
      'a key as the name of a member': 400,
      'an array': 400,
      'a text': 400,
      'JSON that breaks off': 400,
      'JSON with garbage within': 400,
      'no JSON': 400,
      'a form': 400,
      'a nesting too deep': 400,
      'more than 64 KiB': 413,
      'a media type': 415,
      'a pet that may be asked for again': 201,
      'the same again': 201,
      'another pet under its key': 422,
      'a wrong Idempotency-Key': 400,
      'a list': 200,
      'a wrong limit': 400,
      'a wrong status': 400,
      'a wrong cursor': 400,
      'another address': 404,
      'another method': 405,
      'another method with an image': 415,
      'a key that nobody has': 401,
      'the same from its cache': 401,
      'a key with a typing error': 401,
      'the local key and more': 401,
      'another scheme': 401,
      'more than 10 MB': 413,
      'no pet': 404,
      'a wrong limit at last': 400,
      'a pet at last': 201,
    });
  });

  test('prints nothing of keys, headers, bodies and queries', () => {
    expect(found(printed)).toEqual([]);
  });

  test('prints its own key at its start alone, on purpose', () => {
    expect(banner.split(service.apiKey)).toHaveLength(3);
    expect(banner).toContain(`\n  API key       ${service.apiKey}\n`);
    expect(banner).toContain(
      `\n  curl -H 'Authorization: Bearer ${service.apiKey}' ${service.baseAddress}/pets\n`,
    );
    expect(found(printed, { apiKey: service.apiKey })).toEqual([]);
  });

  test('prints the path, where no secret belongs, in one line', () => {
    const lines = printed.split('\n').filter((line) => line.includes(place));
    expect(lines).toEqual([expect.stringMatching(new RegExp(`Z POST /v1/${place} 404 \\d+\\.\\d ms$`))]);
  });
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function thrownBy(fn: () => unknown): unknown {
  try {
    return fn();
  } catch (error) {
    return error;
  }
}

/** As Lambda's runtime for Node writes an error of a function: with its enumerable members, at any depth. */
function asLambdaLogs(error: unknown): string {
  return JSON.stringify(error, (_name, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (!(value instanceof Error)) return value;
    const { name, message, stack, cause } = value;
    return Object.assign({ errorType: name, errorMessage: message, stack, cause }, value);
  });
}
