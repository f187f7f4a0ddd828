import { expect } from '@jest/globals';
import { errorCatalogue, type ErrorCode } from '../../shared/contract/errors.ts';
import type { Answer } from './client.ts';

/** What every answer carries, whoever in the service wrote it. */
export function expectCommonHeaders({ headers }: Answer): void {
  expect(headers.get('Content-Type')).toBe('application/json');
  expect(headers.get('Cache-Control')).toBe('no-store');
  expect(headers.get('x-amzn-RequestId')).toMatch(/^[\da-f-]{36}$/);
}

export function expectSuccess(answer: Answer, status: 200 | 201): void {
  expect({ status: answer.status, body: answer.text }).toEqual({ status, body: expect.any(String) });
  expectCommonHeaders(answer);
}

/** A refusal with this code: the Error body, its members in order, its status that of the answer. */
export function expectError(answer: Answer, code: ErrorCode): void {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status: errorCatalogue[code].status,
    body: { code, message: expect.stringMatching(/\S/), status: BigInt(errorCatalogue[code].status) },
  });
  expect(Object.keys(answer.body)).toEqual(['code', 'message', 'status']);
  expectCommonHeaders(answer);
}
