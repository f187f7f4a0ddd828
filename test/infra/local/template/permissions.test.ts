import { describe, expect, test } from '@jest/globals';
import {
  matchesArn,
  readPermissions,
  requirePermission,
} from '../../../../infra/local/template/permissions.ts';
import {
  lambdaFunction,
  permission,
  policy,
  role,
  sampleApi,
  table,
  templateOf,
} from '../../../support/sample-resources.ts';

const petsArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Pets';

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

describe('the role of a function', () => {
  const template = templateOf({
    Role: role,
    OtherRole: role,
    Pets: table('id', 'kind'),
    Read: policy('dynamodb:GetItem', { 'Fn::GetAtt': ['Pets', 'Arn'] }),
    List: policy(['dynamodb:Query', 'dynamodb:Scan'], [`${petsArn}/index/newest`, `${petsArn}/index/by-*`]),
    Other: policy('dynamodb:DeleteItem', '*', 'OtherRole'),
    Function: lambdaFunction('asset'),
  });
  const isAllowed = readPermissions(template);

  test.each([
    ['permits an action on a resource that a policy names', 'Function', 'dynamodb:GetItem', petsArn, true],
    ['permits nothing else on it', 'Function', 'dynamodb:PutItem', petsArn, false],
    ['permits nothing on another resource', 'Function', 'dynamodb:GetItem', `${petsArn}2`, false],
    ['permits any of several actions', 'Function', 'dynamodb:Scan', `${petsArn}/index/newest`, true],
    ['permits by pattern', 'Function', 'dynamodb:Query', `${petsArn}/index/by-kind`, true],
    [
      'does not take a permission on an index for one on its table',
      'Function',
      'dynamodb:Query',
      petsArn,
      false,
    ],
    [
      'does not take a permission on a table for one on its index',
      'Function',
      'dynamodb:GetItem',
      `${petsArn}/index/newest`,
      false,
    ],
    ['permits nothing of what another role may', 'Function', 'dynamodb:DeleteItem', petsArn, false],
    ['of an unknown function permits nothing', 'Nobody', 'dynamodb:GetItem', petsArn, false],
  ])('%s', (_name, functionId, action, arn, expected) => {
    expect(isAllowed(functionId, action, arn)).toBe(expected);
  });
});

describe('the permission to invoke a function', () => {
  const functionArn = 'arn:aws:lambda:us-east-1:000000000000:function:Function';
  const apiArn = 'arn:aws:execute-api:us-east-1:000000000000:Api';
  const template = templateOf({
    ...sampleApi,
    Role: role,
    Function: lambdaFunction('asset'),
    Permission: permission('Function', 'sample/GET/v1/pets/*'),
  });

  test('holds for its sources', () => {
    expect(() =>
      requirePermission(template, functionArn, `${apiArn}/sample/GET/v1/pets/{petId}`),
    ).not.toThrow();
  });

  test.each([
    ['another method', functionArn, `${apiArn}/sample/POST/v1/pets/5`],
    ['another function', `${functionArn}2`, `${apiArn}/sample/GET/v1/pets/5`],
  ])('is missed for %s, naming function and source', (_name, arn, source) => {
    expect(() => requirePermission(template, arn, source)).toThrow(
      `No AWS::Lambda::Permission lets API Gateway invoke ${arn} for ${source}.`,
    );
  });
});
