import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import type { ErrorCode } from '../../../shared/contract/errors.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';

const all = Object.values<Operation>(operations);

test('each operation declares the errors that parsing its request can cause', () => {
  const missing = all.flatMap(({ id, request, errors }) => {
    const codes: ErrorCode[] = [
      ...(request.path ? (['not_found'] as const) : []),
      ...(request.body ? (['request_too_large', 'unsupported_media_type'] as const) : []),
    ];
    return codes
      .filter((code) => !errors.includes(code))
      .map((code) => `Add ${code} to the errors of ${id}.`);
  });
  expect(missing).toEqual([]);
});

test('each field and parameter has a description', () => {
  const missing = all.flatMap(({ id, request, success }) =>
    Object.values<any>({ ...request, response: success.schema }).flatMap((schema) =>
      Object.entries<any>((schema?.item ?? schema)?.entries ?? {})
        .filter(([, entry]) => !v.getDescription(entry) && !v.getDescription(entry.wrapped ?? entry))
        .map(([name]) => `Add v.description('…') to ${name} (${id}).`),
    ),
  );
  expect(missing).toEqual([]);
});
