import { describe, expect, test } from '@jest/globals';
import { matchesArn } from '../../../../infra/local/template/permissions.ts';

describe('a pattern of ARNs', () => {
  test.each([
    ['arn:a:b', 'arn:a:b', true],
    ['arn:a:b', 'arn:a:bc', false],
    ['arn:a:b', 'xarn:a:b', false],
    ['arn:*', 'arn:a:b/c', true],
    ['arn:*:c', 'arn:a:b', false],
    ['arn:a/*/GET/*', 'arn:a/stage/GET/v1/pets', true],
    ['arn:a/*/GET/*', 'arn:a/stage/POST/v1/pets', false],
    ['arn:?', 'arn:a', true],
    ['arn:?', 'arn:ab', false],
    ['arn:a.c', 'arn:abc', false],
    ['arn:{petId}+(x)', 'arn:{petId}+(x)', true],
    ['*', 'arn:line\nbreak', true],
  ])('%s against %j: %s', (pattern, arn, expected) => {
    expect(matchesArn(pattern, arn)).toBe(expected);
  });
});
