import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { challenge } from '../../shared/contract/authorization.ts';
import type { HttpReply } from '../support/http.ts';
import type { ExpectedError } from './bodies.ts';
import type { Content } from './json.ts';

// Checks that the status, headers and body of each response are as documented in docs/interface.md.

export interface Resource extends Content {
  id: bigint;
}

const documentation = readFileSync('docs/interface.md', 'utf8');
const errors = documentation.matchAll(/^- \*\*(\d{3}) `(\w+)`\*\*/gm);
const statusByCode = new Map(Array.from(errors, ([, status, code]) => [code, Number(status)]));

export function checkResponse({ status, headers, text }: HttpReply, method: string): void {
  const summary = `${status} ${text}`;
  assert.ok(status >= 200 && status < 500, summary);
  assert.equal(headers.get('Content-Type'), status === 204 ? null : 'application/json', summary);
  assert.equal(headers.get('Cache-Control'), 'no-store', summary);
  assert.equal(headers.get('WWW-Authenticate'), status === 401 ? challenge : null, summary);
  assert.equal(headers.has('Allow'), status === 405, summary);
  assert.equal(headers.has('Retry-After'), status === 429, summary);
  if (method === 'HEAD' || status === 204) {
    assert.equal(text, '');
  } else if (status >= 300) {
    const body = JSON.parse(text);
    assert.deepEqual(Object.keys(body), ['code', 'message', 'status'], summary);
    assert.equal(body.status, status, summary);
    assert.equal(statusByCode.get(body.code), status, summary);
    assert.match(body.message, /\S/, summary);
  }
}

/** Checks that the response is one of the expected errors. Checks the message only if exactly one error is expected. */
export function checkErrorResponse({ status, text }: HttpReply, expectedErrors: ExpectedError[]): void {
  const codes = expectedErrors.map(({ code }) => code);
  assert.ok(status >= 400, `Expected ${codes.join(' or ')}, but got ${status} ${text}`);
  const { code, message } = JSON.parse(text);
  assert.ok(codes.includes(code), `Expected ${codes.join(' or ')}, but got ${text}`);
  const mentions = expectedErrors.length === 1 ? expectedErrors[0]?.mentions : undefined;
  assert.ok(message.includes(mentions ?? ''), `Expected a message with ${mentions}, but got ${text}`);
}

/** Parses one or several resources without rounding integers. */
export function parseExactly(text: string): any {
  return JSON.parse(text, (_name, value, { source = '' }) =>
    Number.isInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value,
  );
}
