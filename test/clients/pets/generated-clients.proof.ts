import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { INT64 } from '../../../shared/contract/limits.ts';
import { parseJson, stringifyJson } from '../../../shared/contract/json.ts';
import { type Behavior, useServiceBehindProxy } from '../../support/client-proxy.ts';
import { contract } from '../../support/contract.ts';
import { validPet } from './sample.ts';
import { MAX_NAME_CHARACTERS, type Pet } from '../../../shared/contract/pets.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { describeClientIn, environmentFor, follow, languages, prepare, useDriver } from '../generators.ts';

// These tests generate clients with the commands in docs/clients.md, and call the local service with each client. The
// programs in the folder `generated` replace those on the page.

type Call = { apiKey: string } & ({ key: string; pet: object } | { id: bigint } | { cursor?: string });

const DRIVERS = 'test/clients/pets/generated';
const folder = temporaryFolder();
const { service, proxy } = await useServiceBehindProxy();

const documented = Object.entries(contract().responses.get('getPet 200')!.headers);
const headers = Object.fromEntries(documented.map(([name, { example }]) => [name, `${example}`]));
const found = (fields: object) => ({
  status: 200,
  headers,
  body: stringifyJson({ ...validPet, ...fields }),
});
/** Delay in milliseconds that exceeds the default timeout of OkHttp in Kotlin, the shortest of all generated clients. */
const SLOW = 11_000;
// For each id in the path, a response that AWS, a later release or a slow service could send.
const behaviors: Record<string, () => Behavior | Promise<Behavior>> = {
  1: () => ({ status: 400, body: '{"code":"locked","message":"It is locked.","status":400,"hint":"Wait."}' }),
  2: () => ({ status: 418, body: '{"code":"teapot","message":"I am a teapot.","status":418}' }),
  3: () => found({ id: 3n, color: {} }),
  4: () => setTimeout(SLOW, found({ id: 4n })),
  5: () => ({ status: 403, body: '{"message":"Forbidden"}' }),
  6: () => ({ status: 502, body: '{"message": "Internal server error"}' }),
  7: () => ({ status: 503, headers: { 'Content-Type': 'text/html' }, body: '<html></html>' }),
};
proxy.decide(({ target }) => behaviors[basename(target)]?.() ?? 'pass');
const largest = stringifyJson({ ...validPet, categoryId: INT64.maximum });
await service.call('/pets', { method: 'POST', body: largest });

beforeAll(async () => {
  await prepare(folder, new URL(service.baseUrl).origin, service);
});

for (const language of languages.filter((name) => name !== 'Rust')) {
  describeClientIn(language, () => {
    testClient(language);
  });
}

function testClient(language: string): void {
  const { apiKey } = service;
  const roundsIntegers = language === 'TypeScript';
  let program: ReturnType<typeof start>;

  beforeAll(async () => {
    await follow(language, folder, service);
    program = start(useDriver(language, folder, DRIVERS));
  });
  afterAll(() => {
    program?.end();
  });

  test.each([
    ['a word', 'Rex', INT64.maximum],
    ['a word after white space', ' Rex', INT64.minimum],
    ['a word and a control character', 'Rex\u001f', 0n],
    ['emoji of the maximum length', '😀'.repeat(MAX_NAME_CHARACTERS), -7n],
  ])(
    'sends an Idempotency-Key and reads back a pet whose name is %s',
    async (_title, petName, categoryId) => {
      const pet = { ...validPet, name: petName, categoryId: roundsIntegers ? -7n : categoryId };
      const key = randomUUID();
      const created = await program.send({ apiKey, key, pet });
      expect(created).toMatchObject({ status: 201n, data: { id: expect.anything(), ...pet } });
      expect(proxy.requests.at(-1)!.headers['idempotency-key']).toBe(key);
      const { data } = await program.send({ apiKey, id: created.data.id });
      expect(data).toEqual(created.data);
      const other = { ...pet, categoryId: 1n };
      const conflict = { status: 422n, error: { code: 'idempotency_key_reused' } };
      expect(await program.send({ apiKey, key, pet: other })).toMatchObject(conflict);
    },
  );

  (roundsIntegers ? test : test.skip)(
    'gets a 400 for the largest categoryId, which the client rounds',
    async () => {
      const pet = { ...validPet, categoryId: INT64.maximum };
      const error = { status: 400n, error: { code: 'invalid_request' } };
      expect(await program.send({ apiKey, key: randomUUID(), pet })).toMatchObject(error);
    },
  );

  test('reads every page of a list', async () => {
    const pets: Pet[] = [];
    let cursor: string | undefined;
    do {
      const { data, link } = await program.send({ apiKey, ...(cursor !== undefined && { cursor }) });
      pets.push(...data);
      cursor = /[?&]cursor=([^&>]+)[^>]*>; rel="next"/.exec(link ?? '')?.[1];
    } while (cursor !== undefined);
    const stored: Pet[] = await service.call('/pets?limit=100');
    for (const pet of roundsIntegers ? stored : []) pet.categoryId = BigInt(String(Number(pet.categoryId)));
    expect(pets).toEqual(stored);
  });

  test.each<[status: bigint, code: string | undefined, call: Call]>([
    [400n, 'invalid_request', { apiKey, cursor: 'x' }],
    [400n, 'locked', { apiKey, id: 1n }],
    [401n, 'unauthorized', { apiKey: 'wrong' }],
    [404n, 'not_found', { apiKey, id: 9n }],
    [418n, undefined, { apiKey, id: 2n }],
    [403n, undefined, { apiKey, id: 5n }],
    [502n, undefined, { apiKey, id: 6n }],
    [503n, undefined, { apiKey, id: 7n }],
  ])('returns the status %s, and the code of an Error body', async (status, code, call) => {
    expect(await program.send(call)).toMatchObject({ status, ...(code && { error: { code } }) });
  });

  test('reads a pet with an unknown field, and waits for a slow response', async () => {
    expect((await program.send({ apiKey, id: 3n })).data).toMatchObject({ id: 3n, ...validPet });
    expect((await program.send({ apiKey, id: 4n })).data).toEqual({ id: 4n, ...validPet });
  });
}

/** Starts a program that reads one JSON call per line and prints one JSON result per line. */
function start(command: string) {
  const env = environmentFor({ ...service, baseUrl: proxy.baseUrl });
  const program = spawn('sh', ['-ec', command], { cwd: folder, env });
  let errors = '';
  program.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  program.stdin.on('error', () => {}); // `send` throws an error if the program has exited.
  const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return {
    async send(input: Call): Promise<any> {
      program.stdin.write(`${stringifyJson(input)}\n`);
      for (;;) {
        const { value = '', done } = await lines.next();
        if (done) throw new Error(`The program has exited: ${errors}`);
        // Maven prints escape sequences before the output, and compiler errors instead of the output. A result
        // therefore begins at the first brace, and a line without a brace is an error.
        if (value.includes('{')) return parseJson(value.slice(value.indexOf('{')));
        errors += `${value}\n`;
      }
    },
    end: () => program.stdin.end(),
  };
}
