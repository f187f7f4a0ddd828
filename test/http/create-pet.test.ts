import { describe, expect, test } from '@jest/globals';
import { type Answer, baseAddress, postPet, request } from '../support/client.ts';
import { expectError, expectSuccess } from '../support/expectations.ts';
import { addPet, titled, uniqueName } from '../support/pets.ts';

const NAME_MESSAGE = 'must be a string of 1 to 255 characters, not all white space, in well-formed Unicode';
const STATUS_MESSAGE = 'must be one of available, pending, sold';
const INT64_MESSAGE = 'must be an integer from -9223372036854775808 to 9223372036854775807';

describe('POST /v1/pets', () => {
  test('answers with the pet, its new id included, and nothing else', async () => {
    const answer = await postPet({ name: 'Rex', categoryId: 1, status: 'available' });
    expectSuccess(answer, 201);
    expect(answer.body).toEqual({ id: expect.any(BigInt), name: 'Rex', categoryId: 1n, status: 'available' });
  });

  test('answers with the address of the pet', async () => {
    const answer = await postPet({ name: 'Rex', categoryId: 1 });
    const location = answer.headers.get('Location');
    expect(location).toBe(`${baseAddress}/pets/${answer.body.id}`);
    expect((await request(location!)).body).toEqual(answer.body);
  });

  describe('the id', () => {
    test('is positive and exact in every JSON client, at most 2^53 - 1', async () => {
      const { body, text } = await postPet({ name: 'Rex', categoryId: 1 });
      expect(body.id).toBeGreaterThan(0n);
      expect(body.id).toBeLessThanOrEqual(BigInt(Number.MAX_SAFE_INTEGER));
      expect(text).toContain(`"id":${body.id},`);
    });

    test('grows with time', async () => {
      const ids = [];
      for (let count = 0; count < 5; count += 1) ids.push((await addPet()).id);
      expect(ids).toEqual(ids.toSorted((one, other) => (one < other ? -1 : 1)));
      expect(new Set(ids).size).toBe(ids.length);
    });

    test('differs for pets that are otherwise equal', async () => {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => postPet({ name: 'Rex', categoryId: 1 })),
      );
      expect(new Set(answers.map(({ body }) => body.id as bigint)).size).toBe(answers.length);
    });
  });

  describe('categoryId', () => {
    test.each([
      ['0', '0'],
      ['-0', '0'],
      ['-1', '-1'],
      ['9007199254740993', '9007199254740993'],
      ['-9007199254740993', '-9007199254740993'],
      ['9223372036854775807', '9223372036854775807'],
      ['9223372036854775806', '9223372036854775806'],
      ['-9223372036854775808', '-9223372036854775808'],
      ['9223372036854775807.0', '9223372036854775807'],
      ['5.0', '5'],
      ['5.000', '5'],
      ['5e0', '5'],
      ['0.5e1', '5'],
      ['50E-1', '5'],
      ['1e18', '1000000000000000000'],
      ['0e999999999', '0'],
    ])('%s is kept as an exact integer', async (spelled, digits) => {
      const answer = await postPet(`{"name":"Rex","categoryId":${spelled}}`);
      expectSuccess(answer, 201);
      const member = new RegExp(`"categoryId":${digits}[,}]`);
      expect(answer.text).toMatch(member);
      expect((await request(`/pets/${answer.body.id}`)).text).toMatch(member);
    });

    test('is an integer after 50,000 zeros, too', async () => {
      const answer = await postPet(`{"name":"Rex","categoryId":1.${'0'.repeat(50_000)}}`);
      expectSuccess(answer, 201);
      expect(answer.body.categoryId).toBe(1n);
    });

    test.each(
      titled([
        '5.5',
        '9223372036854775806.5',
        '-0.1',
        '1e-1',
        '1e-400',
        '1e400',
        '-1e400',
        '1e19',
        '1e999999999999999999999',
        '9223372036854775808',
        '-9223372036854775809',
        '18446744073709551616',
        '100000000000000000000000000000000',
        '9'.repeat(50_000),
        `-${'9'.repeat(50_000)}`,
        `0.${'0'.repeat(50_000)}1`,
        '"5"',
        '""',
        'null',
        'true',
        '[5]',
        '{}',
        '{"valueOf":5}',
      ]),
    )('%s is refused', async (_title, spelled) => {
      expectInvalid(await postPet(`{"name":"Rex","categoryId":${spelled}}`), `categoryId ${INT64_MESSAGE}.`);
    });
  });

  describe('name', () => {
    test.each([
      ['1 character', 'x'],
      ['1 astral character', '🐕'],
      ['255 characters', 'x'.repeat(255)],
      ['255 astral characters', '🐕'.repeat(255)],
      ['spaces around it', '  Rex  '],
      ['NUL', 'Re\0x'],
      ['nothing but NUL', '\0'],
      ['line breaks and tabs', 'Rex\r\n\tthe first'],
      ['quotes and backslashes', '"Rex" \\" \\u0041'],
      ['a combining accent', 'e\u0301'],
      ['the same accent, composed', '\u00e9'],
      ['emoji joined to one', '👩‍👩‍👧‍👦'],
      ['a noncharacter', 'Rex \ufffe \uffff'],
      ['separators that scripts stumble over', 'Rex \u2028 \u2029 x'],
      ['right-to-left text', 'كلب'],
      ['markup', '<script>alert(1)</script>'],
      ['a key of objects', '__proto__'],
      ['the text of a number', '1'],
    ])('is kept as sent: %s', async (_case, name) => {
      const answer = await postPet({ name, categoryId: 1 });
      expectSuccess(answer, 201);
      expect(answer.body.name).toBe(name);
      expect((await request(`/pets/${answer.body.id}`)).body.name).toBe(name);
    });

    test('may be written with escapes', async () => {
      const { body } = await postPet(String.raw`{"n\u0061me":"\ud83d\udc15 \u0052ex \/","categoryId":1}`);
      expect(body.name).toBe('🐕 Rex /');
    });

    test.each([
      ['no character', '""'],
      ['256 characters', JSON.stringify('x'.repeat(256))],
      ['256 astral characters', JSON.stringify('🐕'.repeat(256))],
      ['255 characters and a space', JSON.stringify(`${'x'.repeat(255)} `)],
      ['spaces', '"   "'],
      ['line breaks and tabs', String.raw`"\r\n\t"`],
      ['white space of all scripts', String.raw`"\u00a0\u2003\u2028\u3000"`],
      ['a high surrogate alone', String.raw`"\ud800"`],
      ['a low surrogate alone', String.raw`"Rex \udc15"`],
      ['surrogates the wrong way round', String.raw`"Rex \udc15\ud83d"`],
      ['null', 'null'],
      ['a number', '5'],
      ['a boolean', 'true'],
      ['an array', '["Rex"]'],
      ['an object', '{"length":3}'],
    ])('is refused with %s', async (_case, name) => {
      expectInvalid(await postPet(`{"name":${name},"categoryId":1}`), `name ${NAME_MESSAGE}.`);
    });
  });

  describe('status', () => {
    test.each(['available', 'pending', 'sold'])('%s is kept', async (status) => {
      const { body } = await postPet({ name: 'Rex', categoryId: 1, status });
      expect(body.status).toBe(status);
      expect((await request(`/pets/${body.id}`)).body).toEqual(body);
    });

    test('left out stays absent', async () => {
      const answer = await postPet({ name: 'Rex', categoryId: 1 });
      expect(answer.body).toEqual({ id: expect.any(BigInt), name: 'Rex', categoryId: 1n });
      expect(answer.text).not.toContain('status');
    });

    test.each([
      'null',
      '""',
      '"lost"',
      '"Available"',
      '"sold "',
      '"constructor"',
      '0',
      'true',
      '["sold"]',
      '{}',
    ])('%s is refused', async (status) => {
      expectInvalid(
        await postPet(`{"name":"Rex","categoryId":1,"status":${status}}`),
        `status ${STATUS_MESSAGE}.`,
      );
    });
  });

  describe('a required member', () => {
    test.each([
      ['{"categoryId":1}', 'name is required.'],
      ['{"name":"Rex"}', 'categoryId is required.'],
      ['{}', 'name is required; categoryId is required.'],
      ['{"Name":"Rex","CATEGORYID":1}', 'name is required; categoryId is required.'],
      ['{"__proto__":{"name":"Rex","categoryId":1}}', 'name is required; categoryId is required.'],
      ['{"name":"","status":1}', `name ${NAME_MESSAGE}; categoryId is required; status ${STATUS_MESSAGE}.`],
    ])('is named when it is missing: %s', async (body, message) => {
      expectInvalid(await postPet(body), message);
    });
  });

  describe('a member that it does not know', () => {
    test.each([
      ['id', '5'],
      ['id', '"5"'],
      ['creation', '"mine"'],
      ['partition', '"1"'],
      ['statusPartition', '"sold#0"'],
      ['colour', '"red"'],
      ['colour', '1e400'],
      ['', 'null'],
      ['constructor', '{"prototype":{"status":"sold"}}'],
      ['__proto__', '{"status":"sold"}'],
      ['toJSON', '"Rex"'],
      ['Status', '"lost"'],
    ])('is ignored and not kept: %p with %s', async (member, value) => {
      const name = uniqueName();
      const answer = await postPet(`{"name":"${name}",${JSON.stringify(member)}:${value},"categoryId":1}`);
      expectSuccess(answer, 201);
      expect(answer.body).toEqual({ id: expect.any(BigInt), name, categoryId: 1n });
      expect(answer.body.id).not.toBe(5n);
      expect((await request(`/pets/${answer.body.id}`)).body).toEqual(answer.body);
    });
  });
});

function expectInvalid(answer: Answer, message: string): void {
  expectError(answer, 'invalid_request');
  expect(answer.body.message).toBe(message);
}
