import { describe, expect, test } from '@jest/globals';
import { Template } from 'aws-cdk-lib/assertions';
import { AccountStack } from '../../../infra/stack/account.ts';
import { emptyApp } from '../../support/changed-stack.ts';
import {
  asText,
  type Resource,
  resourcesOf,
  stackTemplate,
  stageNames,
  type StackTemplate,
} from '../../support/stack-template.ts';

describe('the stack of an account', () => {
  const stack = new AccountStack(emptyApp(), 'PetStore-account');
  const template = Template.fromStack(stack).toJSON() as StackTemplate;
  const roles = resourcesOf(template, 'AWS::IAM::Role');
  const accounts = resourcesOf(template, 'AWS::ApiGateway::Account');
  const [[roleId, role]] = roles as [[string, Resource]];

  test('has a role and the setting that names it, and nothing else', () => {
    expect([roles.length, accounts.length]).toEqual([1, 1]);
    expect(Object.keys(template.Resources)).toHaveLength(2);
    expect(accounts[0]![1].Properties).toEqual({ CloudWatchRoleArn: { 'Fn::GetAtt': [roleId, 'Arn'] } });
  });

  test('lets API Gateway alone take the role', () => {
    expect(role.Properties['AssumeRolePolicyDocument'].Statement).toEqual([
      { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'apigateway.amazonaws.com' } },
    ]);
  });

  test('permits it to write logs, and nothing else', () => {
    const { AssumeRolePolicyDocument: _, ManagedPolicyArns: policies, ...others } = role.Properties;
    expect(policies.map(asText)).toEqual([
      'arn:${AWS::Partition}:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
    ]);
    expect(others).toEqual({});
  });

  // APIs that are none of ours may have come to rely on it.
  test('leaves both behind when it goes', () => {
    for (const [, resource] of [...roles, ...accounts]) {
      expect(resource).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
    }
  });

  test('is protected from being deleted by mistake', () => {
    expect(stack.terminationProtection).toBe(true);
  });

  // A stage that owned it would take it from the others when it goes.
  test.each(stageNames)('is the only one with that setting, %s has none', (stage) => {
    expect(resourcesOf(stackTemplate(stage), 'AWS::ApiGateway::Account')).toEqual([]);
  });
});
