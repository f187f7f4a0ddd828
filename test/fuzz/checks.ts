import assert from 'node:assert/strict';
import {
  type ApiResponse,
  checkResponse,
  checkErrorResponse,
  type Pet,
  readPet,
  readPets,
} from './responses.ts';
import type { ExpectedError } from './bodies.ts';
import type { Pairs } from './headers.ts';
import type { Case, Create, Get, List } from './requests.ts';

// What docs/interface.md promises of the operations. All pets come from here, so each list is known in advance.

export interface Request {
  method: string;
  /** Percent-encoded. */
  path: string;
  /** Not encoded. */
  query: Pairs;
  headers: Pairs;
  body: Buffer | undefined;
}

type Ask = (request: Request) => Promise<ApiResponse>;

/** What a service holds. */
export interface Known {
  /** Newest first. */
  pets: Pet[];
  /** By Idempotency-Key the pet that was created with it, and the body of the answer. */
  creations: Map<string, { pet: Pet; text: string }>;
}

const PETS = '/v1/pets';

/** Sends what the case says, and checks the response and what is stored then. @throws AssertionError */
export async function check(aCase: Case, ask: Ask, known: Known): Promise<void> {
  const askAndCheck: Ask = async (request) => {
    const response = await ask(request);
    checkResponse(response, request.method);
    return response;
  };
  if (aCase.operation === 'createPet') await checkCreate(aCase, askAndCheck, known);
  else if (aCase.operation === 'listPets') await checkList(aCase, askAndCheck, known);
  else await checkGet(aCase, askAndCheck, known);
}

async function checkCreate(
  { body: { bytes, expected }, bodyHeaders, idempotencyKey, followedBy }: Create,
  ask: Ask,
  known: Known,
): Promise<void> {
  const request = post(bytes, bodyHeaders.pairs, idempotencyKey?.values);
  const response = await ask(request);

  const expectedErrors: ExpectedError[] = [];
  const { naming } = bodyHeaders;
  if (naming) expectedErrors.push({ code: 'unsupported_media_type', naming });
  if (idempotencyKey && !idempotencyKey.key)
    expectedErrors.push({ code: 'invalid_request', naming: 'Idempotency-Key' });
  if (expected && 'code' in expected) expectedErrors.push(expected);
  if (expectedErrors.length > 0) {
    // The body may be wrong too.
    return checkErrorResponse(
      response,
      expected ? expectedErrors : [...expectedErrors, { code: 'invalid_request' }],
    );
  }

  const content = expected && 'content' in expected ? expected.content : undefined;
  const earlier = known.creations.get(idempotencyKey?.key ?? '');
  if (!content && response.status === 400) return;
  if (earlier && response.status !== 201) {
    if (content)
      assert.notDeepEqual({ id: earlier.pet.id, ...content }, earlier.pet, 'It was the same body.');
    return checkErrorResponse(response, [{ code: 'idempotency_key_reused' }]);
  }
  assert.equal(response.status, 201, response.text);
  const pet = readPet(response.text);
  if (content) assert.deepEqual(pet, { id: pet.id, ...content });
  assert.ok(response.headers.get('Location')?.endsWith(`${PETS}/${pet.id}`));
  if (earlier) return assert.equal(response.text, earlier.text);
  await checkCreated(pet, ask, known);

  if (!idempotencyKey?.key) return;
  known.creations.set(idempotencyKey.key, { pet, text: response.text });
  const again = { ...request, headers: post(undefined, bodyHeaders.pairs, [idempotencyKey.again!]).headers };
  if (followedBy === 'retry') assert.equal((await ask(again)).text, response.text);
  if (followedBy === 'another body') {
    const other = Buffer.from('{"name":"Another pet","categoryId":0}');
    checkErrorResponse(await ask({ ...again, body: other }), [{ code: 'idempotency_key_reused' }]);
  }
}

/** A new pet is there at its address, and in its place in the lists. */
export async function checkCreated(pet: Pet, ask: Ask, known: Known): Promise<void> {
  const others = known.pets.filter(({ id }) => id !== pet.id);
  assert.equal(others.length, known.pets.length, `There was a pet ${pet.id} before.`);
  known.pets = [pet, ...known.pets].toSorted((one, other) => (one.id > other.id ? -1 : 1));
  assert.deepEqual(readPet((await ask(get(pet.id.toString()))).text), pet);
  const status = pet.status && { status: pet.status };
  await checkPage([['limit', '2'], ...Object.entries(status || {})], { limit: 2, ...status }, ask, known);
}

async function checkList({ query, expected, afterFirst }: List, ask: Ask, known: Known): Promise<void> {
  if (!expected) {
    const { status, text } = await ask(list(query));
    if (status === 400) return;
    assert.equal(status, 200);
    const pets = readPets(text);
    assert.ok(pets.length <= 100);
    const ids = new Set(pets.map(({ id }) => id));
    return assert.deepEqual(
      pets,
      known.pets.filter(({ id }) => ids.has(id)),
    );
  }
  if ('code' in expected) return checkErrorResponse(await ask(list(query)), [expected]);
  if (afterFirst === undefined) return void (await checkPage(query, expected, ask, known));
  const first = { ...expected, limit: afterFirst.limit };
  const others = query.filter(([name]) => name !== 'limit');
  const next = await checkPage([...others, ['limit', first.limit.toString()]], first, ask, known);
  if (!next) return;
  const { cursor } = next;
  const at = afterFirst.replaced % cursor.length;
  const changed = cursor.slice(0, at) + afterFirst.by + cursor.slice(at + 1);
  const ofAnotherList = others.filter(([name]) => name !== 'status');
  if (!expected.status) ofAnotherList.push(['status', 'sold']);
  const lost = { code: 'invalid_request', naming: 'cursor is not valid for this list' };
  checkErrorResponse(await ask(list([...ofAnotherList, ['cursor', cursor]])), [lost]);
  if (changed !== cursor) checkErrorResponse(await ask(list([...query, ['cursor', changed]])), [lost]);
  await checkPage([...query, ['cursor', cursor]], { ...expected, below: next.below }, ask, known);
}

interface Page {
  limit: number;
  status?: string;
  /** The identifier below which it begins. */
  below?: bigint;
}

/** Checks a page of a list, pet by pet; gives what the link to the next page leads to, if there is one. */
async function checkPage(
  query: Pairs,
  { limit, status, below }: Page,
  ask: Ask,
  known: Known,
): Promise<{ cursor: string; below: bigint } | undefined> {
  const response = await ask(list(query));
  assert.equal(response.status, 200, response.text);
  const all = known.pets.filter(
    (pet) => (status === undefined || pet.status === status) && (below === undefined || pet.id < below),
  );
  const pets = readPets(response.text);
  assert.deepEqual(pets, all.slice(0, limit));

  const link = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('Link') ?? '')?.[1];
  assert.equal(link !== undefined, all.length > limit, 'The link to the next page');
  if (link === undefined) return undefined;
  const parameters = new URL(link).searchParams;
  assert.equal(parameters.get('limit'), limit.toString());
  assert.equal(parameters.get('status'), status ?? null);
  return { cursor: parameters.get('cursor')!, below: pets.at(-1)!.id };
}

async function checkGet({ pet }: Get, ask: Ask, known: Known): Promise<void> {
  const wanted = typeof pet === 'string' ? undefined : known.pets[pet.index % known.pets.length];
  const encode = (digit: string, index: number) =>
    typeof pet === 'object' && pet.isEncoded[index] ? `%3${digit}` : digit;
  const segment = typeof pet === 'string' ? pet : Array.from(`${wanted?.id ?? 0}`, encode).join('');
  const response = await ask(get(segment));
  if (wanted) assert.deepEqual([response.status, readPet(response.text)], [200, wanted]);
  else checkErrorResponse(response, [{ code: 'not_found' }]);
  assert.match(response.headers.get('Deprecation') ?? '', /^@\d+$/);
}

function post(body: Buffer | undefined, bodyHeaders: Pairs, keys: string[] = []): Request {
  const headers = [...bodyHeaders, ...keys.map((key): Pairs[0] => ['Idempotency-Key', key])];
  return { method: 'POST', path: PETS, query: [], headers, body };
}

function list(query: Pairs): Request {
  return { method: 'GET', path: PETS, query, headers: [], body: undefined };
}

function get(segment: string): Request {
  return { method: 'GET', path: `${PETS}/${segment}`, query: [], headers: [], body: undefined };
}
