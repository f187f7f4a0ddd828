import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Refusal } from './bodies.ts';
import type { Content } from './json.ts';

// What docs/interface.md promises of any answer.

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export interface Pet extends Content {
  id: bigint;
}

const documentation = readFileSync(new URL('../../docs/interface.md', import.meta.url), 'utf8');
const catalogue = new Map(
  Array.from(documentation.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm), ([, code, status]) => [
    code,
    Number(status),
  ]),
);

/** What holds for every answer, whoever wrote it. */
export function checkAnswer({ status, headers, text }: Answer, method: string): void {
  const told = `${status} ${text}`;
  assert.ok(status >= 200 && status < 500, told);
  assert.equal(headers.get('Content-Type'), 'application/json', told);
  assert.equal(headers.get('Cache-Control'), 'no-store', told);
  assert.equal(headers.get('WWW-Authenticate'), status === 401 ? 'Bearer realm="petstore"' : null, told);
  assert.equal(headers.has('Allow'), status === 405, told);
  assert.equal(headers.has('Retry-After'), status === 429, told);
  if (method === 'HEAD') {
    assert.equal(text, '');
  } else if (status >= 300) {
    const body = JSON.parse(text);
    assert.deepEqual(Object.keys(body), ['code', 'message', 'status'], told);
    assert.equal(body.status, status, told);
    assert.equal(catalogue.get(body.code), status, told);
    assert.match(body.message, /\S/, told);
  }
}

/** One of these refusals; what it has to name, if there is but one. */
export function checkRefusal({ status, text }: Answer, refusals: Refusal[]): void {
  const codes = refusals.map(({ code }) => code);
  assert.ok(status >= 400, `${status} ${text}, not one of ${codes.join(', ')}`);
  const { code, message } = JSON.parse(text);
  assert.ok(codes.includes(code), `${text}, not one of ${codes.join(', ')}`);
  const naming = refusals.length === 1 ? refusals[0]?.naming : undefined;
  assert.ok(message.includes(naming ?? ''), `${text} does not name ${naming}`);
}

export function readPet(text: string): Pet {
  const [pet] = readPets(`[${text}]`);
  return pet!;
}

/** @throws AssertionError when one of them is not as the interface describes a pet. */
export function readPets(text: string): Pet[] {
  const pets = JSON.parse(text, (_name, value, { source }) =>
    typeof value === 'number' ? BigInt(source!) : value,
  ) as Pet[];
  for (const { id, name, categoryId, status, ...others } of pets) {
    assert.deepEqual(others, {});
    assert.ok(typeof id === 'bigint' && id > 0n && id < 2n ** 53n, text);
    assert.ok(typeof categoryId === 'bigint' && BigInt.asIntN(64, categoryId) === categoryId, text);
    assert.ok(name.isWellFormed() && name.trim() !== '' && Array.from(name).length <= 255, text);
    assert.ok(status === undefined || ['available', 'pending', 'sold'].includes(status), text);
  }
  return pets;
}
