import assert from 'node:assert/strict';
import type { HttpReply, OutgoingRequest } from '../support/http.ts';
import type { ExpectedError } from './bodies.ts';
import type { Pairs } from './headers.ts';
import type { Case, Create, Get, List } from './requests.ts';
import { checkErrorResponse, type Pet, readPet, readPets } from './responses.ts';

// Checks that the operations behave as docs/interface.md documents, provided that no other client creates pets.

export interface Request extends Omit<OutgoingRequest, 'target'> {
  /** Path with percent-encoding. */
  path: string;
  /** Query parameters without percent-encoding. */
  query: Pairs;
}

export type Send = (request: Request) => Promise<HttpReply>;

/** Expected state of the service. */
interface State {
  /** Stored pets, sorted from newest to oldest. */
  pets: Pet[];
  /** Created pets and the response bodies, by idempotency key. */
  creations: Map<string, { pet: Pet; text: string }>;
}

export const newState = (): State => ({ pets: [], creations: new Map() });

const PETS = '/v1/pets';

/** Sends a test case's requests. @throws AssertionError if a response differs from the documentation */
export async function check(testCase: Case, send: Send, state: State): Promise<void> {
  if (testCase.operation === 'createPet') await checkCreate(testCase, send, state);
  else if (testCase.operation === 'listPets') await checkList(testCase, send, state);
  else await checkGet(testCase, send, state);
}

async function checkCreate(
  { body: { bytes, expected }, bodyHeaders, idempotencyKey, followUp }: Create,
  send: Send,
  state: State,
): Promise<void> {
  const request = post(bytes, bodyHeaders.pairs, idempotencyKey?.values);
  const response = await send(request);

  const expectedErrors: ExpectedError[] = [];
  const { mentions } = bodyHeaders;
  if (mentions) expectedErrors.push({ code: 'unsupported_media_type', mentions });
  if (idempotencyKey && !idempotencyKey.key)
    expectedErrors.push({ code: 'invalid_request', mentions: 'Idempotency-Key' });
  if (expected && 'code' in expected) expectedErrors.push(expected);
  if (expectedErrors.length > 0) {
    // If the body can be invalid, the error for an invalid body is accepted too.
    if (!expected) expectedErrors.push({ code: 'invalid_request' });
    return checkErrorResponse(response, expectedErrors);
  }

  const content = expected && 'content' in expected ? expected.content : undefined;
  const earlier = state.creations.get(idempotencyKey?.key ?? '');
  if (!content && response.status === 400) return;
  if (earlier && response.status !== 201) {
    if (content)
      assert.notDeepEqual({ id: earlier.pet.id, ...content }, earlier.pet, 'The body is the same.');
    return checkErrorResponse(response, [{ code: 'idempotency_key_reused' }]);
  }
  assert.equal(response.status, 201, response.text);
  const pet = readPet(response.text);
  if (content) assert.deepEqual(pet, { id: pet.id, ...content });
  assert.ok(response.headers.get('Location')?.endsWith(`${PETS}/${pet.id}`));
  if (earlier) return assert.equal(response.text, earlier.text);
  await checkCreated(pet, send, state);

  if (!idempotencyKey?.key) return;
  state.creations.set(idempotencyKey.key, { pet, text: response.text });
  const retry = post(bytes, bodyHeaders.pairs, [idempotencyKey.retryValue!]);
  if (followUp === 'retry') assert.equal((await send(retry)).text, response.text);
  if (followUp === 'another body') {
    const other = Buffer.from('{"name":"Another pet","categoryId":0}');
    checkErrorResponse(await send({ ...retry, body: other }), [{ code: 'idempotency_key_reused' }]);
  }
}

/** Checks that `getPet` and `listPets` return a new pet. */
export async function checkCreated(pet: Pet, send: Send, state: State): Promise<void> {
  const others = state.pets.filter(({ id }) => id !== pet.id);
  assert.equal(others.length, state.pets.length, `The id ${pet.id} is not unique.`);
  state.pets = [pet, ...state.pets].toSorted((one, other) => (one.id > other.id ? -1 : 1));
  assert.deepEqual(readPet((await send(get(`${PETS}/${pet.id}`))).text), pet);
  const status = pet.status && { status: pet.status };
  await checkPage([['limit', '2'], ...Object.entries(status || {})], { limit: 2, ...status }, send, state);
}

async function checkList({ query, expected, afterFirst }: List, send: Send, state: State): Promise<void> {
  if ('code' in expected) return checkErrorResponse(await send(get(PETS, query)), [expected]);
  if (afterFirst === undefined) return void (await checkPage(query, expected, send, state));
  const first = { ...expected, limit: afterFirst.limit };
  const others = query.filter(([name]) => name !== 'limit');
  const next = await checkPage([...others, ['limit', first.limit.toString()]], first, send, state);
  if (!next) return;
  const { cursor } = next;
  const at = afterFirst.replaced % cursor.length;
  const changed = cursor.slice(0, at) + afterFirst.by + cursor.slice(at + 1);
  const ofAnotherList = others.filter(([name]) => name !== 'status');
  if (!expected.status) ofAnotherList.push(['status', 'sold']);
  const cursorError = { code: 'invalid_request', mentions: 'cursor must be from a page of this list' };
  checkErrorResponse(await send(get(PETS, [...ofAnotherList, ['cursor', cursor]])), [cursorError]);
  if (changed !== cursor)
    checkErrorResponse(await send(get(PETS, [...query, ['cursor', changed]])), [cursorError]);
  await checkPage([...query, ['cursor', cursor]], { ...expected, below: next.below }, send, state);
}

interface Page {
  limit: number;
  status?: string;
  /** Id that is greater than all ids on the page. */
  below?: bigint;
}

/** Checks the pets on a page. Returns the position of the next page, or undefined if the page is the last. */
async function checkPage(
  query: Pairs,
  { limit, status, below }: Page,
  send: Send,
  state: State,
): Promise<{ cursor: string; below: bigint } | undefined> {
  const response = await send(get(PETS, query));
  assert.equal(response.status, 200, response.text);
  const all = state.pets.filter(
    (pet) => (status === undefined || pet.status === status) && (below === undefined || pet.id < below),
  );
  const pets = readPets(response.text);
  assert.deepEqual(pets, all.slice(0, limit));

  const link = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('Link') ?? '')?.[1];
  assert.equal(link !== undefined, all.length > limit, 'The Link header is wrong.');
  if (link === undefined) return undefined;
  const parameters = new URL(link).searchParams;
  assert.equal(parameters.get('limit'), limit.toString());
  assert.equal(parameters.get('status'), status ?? null);
  return { cursor: parameters.get('cursor')!, below: pets.at(-1)!.id };
}

async function checkGet({ pet }: Get, send: Send, state: State): Promise<void> {
  const expected = typeof pet === 'string' ? undefined : state.pets[pet.index % state.pets.length];
  const encode = (digit: string, index: number) =>
    typeof pet === 'object' && pet.isEncoded[index] ? `%3${digit}` : digit;
  const segment = typeof pet === 'string' ? pet : Array.from(`${expected?.id ?? 0}`, encode).join('');
  const response = await send(get(`${PETS}/${segment}`));
  if (expected) assert.deepEqual([response.status, readPet(response.text)], [200, expected]);
  else checkErrorResponse(response, [{ code: 'not_found' }]);
}

function post(body: Buffer, bodyHeaders: Pairs, keys: string[] = []): Request {
  const headers = [...bodyHeaders, ...keys.map((key): Pairs[0] => ['Idempotency-Key', key])];
  return { method: 'POST', path: PETS, query: [], headers, body };
}

function get(path: string, query: Pairs = []): Request {
  return { method: 'GET', path, query, headers: [] };
}
