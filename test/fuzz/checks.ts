import assert from 'node:assert/strict';
import type { HttpReply, OutgoingRequest } from '../support/http.ts';
import { collection, textField } from '../support/sample.ts';
import type { ExpectedError } from './bodies.ts';
import { exampleBody, filters } from './documented.ts';
import type { Pairs } from './headers.ts';
import { INT64_MAX, otherNames } from './json.ts';
import type { Case, Create, Get, List } from './requests.ts';
import { checkErrorResponse, parseExactly, type Resource } from './responses.ts';

// Checks that the operations behave as documented in docs/interface.md. No other client may create resources meanwhile.

export interface Request extends Omit<OutgoingRequest, 'target'> {
  /** Percent-encoded path. */
  path: string;
  /** Query parameters without percent-encoding. */
  query: Pairs;
}

export type Send = (request: Request) => Promise<HttpReply>;

/** Expected state of the service. */
interface State {
  /** Stored resources, sorted from newest to oldest. */
  resources: Resource[];
  /** For each idempotency key, the created resource and the body of the 201 response. */
  creations: Map<string, { resource: Resource; text: string }>;
}

export const newState = (): State => ({ resources: [], creations: new Map() });

/** Sends a test case's requests. @throws AssertionError if a response differs from the documentation */
export async function check(testCase: Case, send: Send, state: State): Promise<void> {
  if (testCase.operation === 'create') await checkCreate(testCase, send, state);
  else if (testCase.operation === 'list') await checkList(testCase, send, state);
  else if (testCase.operation === 'get') await checkGet(testCase, send, state);
  else await send(testCase);
}

async function checkCreate(
  { body: { text, expected }, idempotencyKey, followUp }: Create,
  send: Send,
  state: State,
): Promise<void> {
  const request = post(text, idempotencyKey?.values);
  const response = await send(request);

  const expectedErrors: ExpectedError[] = [];
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
  if (response.status === 400) {
    // `send` has already checked that the request violates openapi.json.
    const isExpected = !content || otherNames.some((name) => response.text.includes(name));
    return assert.ok(isExpected, response.text);
  }
  if (earlier && response.status !== 201) {
    if (content)
      assert.notDeepEqual({ id: earlier.resource.id, ...content }, earlier.resource, 'A retry was rejected.');
    return checkErrorResponse(response, [{ code: 'idempotency_key_reused' }]);
  }
  assert.equal(response.status, 201, response.text);
  const resource: Resource = parseExactly(response.text);
  const expectedResource = content ? { id: resource.id, ...content } : resource;
  // The creation is recorded before the checks. If a check fails, fast-check shrinks the case and sends the same
  // idempotency key again. Without the record, the smaller cases would fail for a different reason: the key has been
  // used before.
  if (idempotencyKey?.key && !earlier)
    state.creations.set(idempotencyKey.key, { resource: expectedResource, text: response.text });
  if (!earlier) await checkCreated(resource, send, state);
  assert.deepEqual(resource, expectedResource);
  assert.ok(response.headers.get('Location')?.endsWith(`${collection}/${resource.id}`));
  if (earlier) return assert.equal(response.text, earlier.text);

  if (!idempotencyKey?.key) return;
  const retry = post(text, [idempotencyKey.retryValue!]);
  if (followUp === 'retry') assert.equal((await send(retry)).text, response.text);
  if (followUp === 'another body') {
    const other = JSON.stringify({ ...JSON.parse(exampleBody), [textField]: 'Another' });
    checkErrorResponse(await send({ ...retry, body: other }), [{ code: 'idempotency_key_reused' }]);
  }
}

/** Checks that a new resource can be read and is listed. */
async function checkCreated(resource: Resource, send: Send, state: State): Promise<void> {
  const others = state.resources.filter(({ id }) => id !== resource.id);
  assert.equal(others.length, state.resources.length, `The id ${resource.id} is not unique.`);
  state.resources = [resource, ...others].toSorted((one, other) => (one.id > other.id ? -1 : 1));
  assert.deepEqual(parseExactly((await send(get(`${collection}/${resource.id}`))).text), resource);
  const filtered = filters.filter(({ name }) => name in resource);
  const query = filtered.map(({ name }): Pairs[0] => [name, `${resource[name]}`]);
  // Requests one resource, because other resources can differ from the expected state after an earlier case failed.
  await checkPage([['limit', '1'], ...query], 1, send, state);
}

async function checkList({ expected, afterFirst, ...list }: List, send: Send, state: State): Promise<void> {
  const storedValues = (name: string) => state.resources.flatMap((resource) => resource[name] ?? []);
  const query = list.query.flatMap(([name, value]): Pairs => {
    const stored = storedValues(name);
    const text = typeof value === 'string' ? value.toWellFormed() : stored[value % stored.length];
    return text === undefined ? [] : [[name, `${text}`]];
  });
  if ('code' in expected) return checkErrorResponse(await send(get(collection, query)), [expected]);
  if (afterFirst === undefined) return void (await checkPage(query, expected.limit, send, state));
  const { limit, replaced, by } = afterFirst;
  const others = query.filter(([name]) => name !== 'limit');
  const next = await checkPage([...others, ['limit', `${limit}`]], limit, send, state);
  if (!next) return;
  const { cursor, below } = next;
  const at = replaced % cursor.length;
  const changed = cursor.slice(0, at) + by + cursor.slice(at + 1);
  const rejected = changed === cursor ? [] : [[...query, ['cursor', changed]] as Pairs];
  for (const { name } of filters) {
    const without = others.filter((pair) => pair[0] !== name);
    const [value] = storedValues(name);
    if (without.length === others.length) without.push([name, `${value}`]);
    if (value !== undefined) rejected.push([...without, ['cursor', cursor]]);
  }
  const cursorError = { code: 'invalid_request', mentions: 'cursor must be from a page of this list' };
  for (const each of rejected) checkErrorResponse(await send(get(collection, each)), [cursorError]);
  await checkPage([...query, ['cursor', cursor]], expected.limit, send, state, below);
}

/**
 * Checks the resources on a page. Returns `cursor` and `below` of the next page, or undefined if there is no next page.
 *
 * @param below id that is greater than all ids on the page @default - the first page
 */
async function checkPage(query: Pairs, limit: number, send: Send, state: State, below = INT64_MAX) {
  const response = await send(get(collection, query));
  const given = filters.flatMap(({ name }) => query.filter((pair) => pair[0] === name));
  if (response.status === 400) return checkRejectedFilters(response.text, given, state);
  assert.equal(response.status, 200, response.text);
  const all = state.resources.filter(
    (resource) => resource.id < below && given.every((pair) => matches(resource, pair)),
  );
  const resources: Resource[] = parseExactly(response.text);
  assert.deepEqual(resources, all.slice(0, limit));

  const link = /^<([^>]+)>; rel="next"$/.exec(response.headers.get('Link') ?? '')?.[1];
  assert.equal(link !== undefined, all.length > limit, 'The Link header is missing or unexpected.');
  if (link === undefined) return undefined;
  const { cursor, ...repeated } = Object.fromEntries(new URL(link).searchParams);
  assert.deepEqual(repeated, { limit: `${limit}`, ...Object.fromEntries(given) });
  return { cursor: cursor!, below: resources.at(-1)!.id };
}

function matches(resource: Resource, [name, text]: Pairs[0]): boolean {
  return name in resource && `${resource[name]}` === text;
}

/** Checks that rejected filters are an unsupported combination or contain a value that no stored resource has. */
function checkRejectedFilters(text: string, given: Pairs, state: State): undefined {
  const supported = /supported combination of filters: ([^.;]*)/.exec(text)?.[1]?.split(' or ');
  const names = given.map(([name]) => name).toSorted();
  const isUnknown = (pair: Pairs[0]) => !state.resources.some((resource) => matches(resource, pair));
  const isExpected = supported
    ? supported.every((combination) => combination.split(' and ').toSorted().join() !== names.join())
    : given.some((pair) => isUnknown(pair) && text.includes(pair[0]));
  assert.ok(isExpected, text);
}

async function checkGet({ resource }: Get, send: Send, state: State): Promise<void> {
  const expected =
    typeof resource === 'string' ? undefined : state.resources[resource.index % state.resources.length];
  const encode = (digit: string, index: number) =>
    typeof resource === 'object' && resource.isEncoded[index] ? `%3${digit}` : digit;
  const segment =
    typeof resource === 'string' ? resource : Array.from(`${expected?.id ?? 0}`, encode).join('');
  const response = await send(get(`${collection}/${segment}`));
  if (expected) assert.deepEqual([response.status, parseExactly(response.text)], [200, expected]);
  else checkErrorResponse(response, [{ code: 'not_found' }]);
}

function post(body: string | Uint8Array, keys: string[] = []): Request {
  const headers = keys.map((key): Pairs[0] => ['Idempotency-Key', key]);
  return { method: 'POST', path: collection, query: [], headers, body };
}

function get(path: string, query: Pairs = []): Request {
  return { method: 'GET', path, query, headers: [] };
}
