import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import type { ErrorCode } from '../../../shared/contract/errors.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';

const all = Object.values<Operation>(operations);
const bodyErrors: ErrorCode[] = ['invalid_request', 'request_too_large', 'unsupported_media_type'];

test('each operation declares the errors that parsing its request can cause', () => {
  const missing = all.flatMap(({ id, request, errors }) => {
    const { path, query, headers, body } = request.entries;
    const codes: ErrorCode[] = [
      ...(path ? (['not_found'] as const) : []),
      ...(query || headers ? (['invalid_request'] as const) : []),
      ...(body ? bodyErrors : []),
    ];
    return codes.filter((code) => !(code in errors)).map((code) => `Add ${code} to the errors of ${id}.`);
  });
  expect(missing).toEqual([]);
});

test('each field and parameter has a description', () => {
  const missing = all.flatMap(({ id, request, success }) =>
    Object.values<any>({ ...request.entries, response: success.schema }).flatMap((schema) =>
      Object.entries<any>((schema?.item ?? schema)?.entries ?? {})
        .filter(([, entry]) => !v.getDescription(entry) && !v.getDescription(entry.wrapped ?? entry))
        .map(([name]) => `Add v.description('…') to ${name} (${id}).`),
    ),
  );
  expect(missing).toEqual([]);
});
