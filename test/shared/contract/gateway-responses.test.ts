import { expect, test } from '@jest/globals';
import { methodsByPath } from '../../../shared/contract/gateway-responses.ts';
import { type Operation, operations } from '../../../shared/contract/operations.ts';

test('each path has the methods of its operations', () => {
  const all = Array.from(methodsByPath(), ([path, methods]) => methods.map((method) => `${method} ${path}`));
  const requests = Object.values<Operation>(operations).map(({ method, path }) => `${method} ${path}`);
  expect(all.flat().toSorted()).toEqual(requests.toSorted());
  expect(all).toHaveLength(new Set(requests.map((request) => request.split(' ')[1])).size);
});
