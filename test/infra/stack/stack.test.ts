import { describe, expect, test } from '@jest/globals';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { stages } from '../../../infra/stages.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { changedTemplate, petStoreStack } from '../../support/changed-stack.ts';
import { asText, resourceOf, resourcesOf, stackTemplate, stageNames } from '../../support/stack-template.ts';

/** Properties with which a resource would get a name of our choice. */
const physicalNames: Record<string, string> = {
  'AWS::CloudWatch::Alarm': 'AlarmName',
  'AWS::CloudWatch::Dashboard': 'DashboardName',
  'AWS::CodeDeploy::Application': 'ApplicationName',
  'AWS::CodeDeploy::DeploymentGroup': 'DeploymentGroupName',
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::IAM::ManagedPolicy': 'ManagedPolicyName',
  'AWS::IAM::Role': 'RoleName',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::Logs::LogGroup': 'LogGroupName',
  'AWS::SNS::Topic': 'TopicName',
  'AWS::WAFv2::WebACL': 'Name',
};

describe.each(stageNames)('the stack of %s', (stage) => {
  const template = stackTemplate(stage);

  test('comes out the same when it is synthesized again', () => {
    expect(changedTemplate(stage)).toEqual(changedTemplate(stage));
  });

  // A name of our own would block every replacement, and a second copy of the stack in the account.
  test.each(Object.entries(physicalNames))('leaves the names of %s to CloudFormation', (type, property) => {
    const named = resourcesOf(template, type).filter(([, { Properties }]) => property in (Properties ?? {}));
    expect(named).toEqual([]);
  });

  // One per account and region: a stage that owned it would take it from the others when it goes.
  test('does not own the account settings of API Gateway', () => {
    expect(resourcesOf(template, 'AWS::ApiGateway::Account')).toEqual([]);
  });

  test('gives nothing but the base address, the table of keys and the topic of alarms', () => {
    const [apiId] = resourceOf(template, 'AWS::ApiGateway::RestApi', 'ApiRestApi');
    const [stageId] = resourcesOf(template, 'AWS::ApiGateway::Stage')[0]!;
    const [keysId] = resourceOf(template, 'AWS::DynamoDB::GlobalTable', 'StorageApiKeys');

    const [topicId] = resourceOf(template, 'AWS::SNS::Topic', 'MonitoringAlarmTopic');

    const outputs = Object.entries(template.Outputs);
    expect(Object.fromEntries(outputs.map(([name, { Value }]) => [name, asText(Value)]))).toEqual({
      BaseAddress: `https://\${${apiId}}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}/\${${stageId}}/v1`,
      ApiKeysTable: `\${${keysId}}`,
      AlarmTopic: `\${${topicId}}`,
    });
  });

  test('refers to nothing of the other stage', () => {
    const other = stageNames.find((name) => name !== stage)!;
    expect(JSON.stringify(template)).not.toContain(other);
  });
});

describe('the protection of a stack from being deleted by mistake', () => {
  test('is on in production', () => {
    expect(petStoreStack('production').terminationProtection).toBe(true);
  });

  test('is off in staging, which may go at any time', () => {
    expect(petStoreStack('staging').terminationProtection).toBe(false);
  });
});

describe('the settings of the stages', () => {
  test('keep the data of production alone', () => {
    expect(stages.production.keepsData).toBe(true);
    expect(stages.staging.keepsData).toBe(false);
  });

  // A revoked key works on for so long, and this is what operators are told.
  test.each(stageNames)('let %s reuse a decision on a key for a minute', (stage) => {
    expect(stages[stage].authorizerCacheSeconds).toBe(60);
  });
});

describe('the removal of a deprecated operation', () => {
  const { sunset } = operations.getPet.deprecation;
  const dayMilliseconds = 86_400_000;

  test('is the day that the specification names', () => {
    expect(sunset).toEqual(new Date('2030-12-05T00:00:00Z'));
  });

  test('is not mentioned by synth more than 180 days before', () => {
    expect(warningsOn(new Date('2026-11-21T00:00:00Z'))).toEqual([]);
    expect(warningsOn(new Date(sunset.getTime() - 180 * dayMilliseconds - 1))).toEqual([]);
  });

  test.each([
    ['180 days before', -180],
    ['on the day', 0],
    ['a year after', 365],
  ])('is warned of at synth %s', (_when, days) => {
    const warnings = warningsOn(new Date(sunset.getTime() + days * dayMilliseconds));
    expect(warnings).toEqual([expect.stringContaining('getPet is to be removed on 2030-12-05')]);
  });
});

/** What synth warns of on that day about removals. */
function warningsOn(today: Date): string[] {
  const stack = petStoreStack('production', { today });
  return Annotations.fromStack(stack)
    .findWarning('*', Match.stringLikeRegexp('to be removed'))
    .map(({ entry }) => entry.data as string);
}
