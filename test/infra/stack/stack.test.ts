import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSynthesis } from '../../support/assembly.ts';
import { readableTemplate, resourcesOf, stageNames } from '../../support/stack-template.ts';

const { assembly, code, stdout } = await sharedSynthesis();

describe('cdk synth', () => {
  test('makes a stack for the account, which is deployed first, and one for each stage', () => {
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    const stacks = Object.entries<any>(readReport('manifest.json').artifacts)
      .filter(([, { type }]) => type === 'aws:cloudformation:stack')
      .map(([name, { properties, dependencies }]) => [
        name,
        {
          isProtected: properties.terminationProtection,
          isAfterAccount: dependencies.includes('PetStore-account'),
        },
      ]);
    // Protected from being deleted by mistake.
    expect(Object.fromEntries(stacks)).toEqual({
      'PetStore-account': { isProtected: true, isAfterAccount: false },
      'PetStore-staging': { isProtected: false, isAfterAccount: true },
      'PetStore-production': { isProtected: true, isAfterAccount: true },
    });
  });

  test('checks every stack by the rules of AWS, and accepts acknowledged findings only, at their construct', () => {
    const report = readReport('validation-report.json').pluginReports.find(
      ({ pluginName }: any) => pluginName === 'AwsSolutions',
    );
    expect(report).toMatchObject({ conclusion: 'success', violations: [] });
    expect(report.suppressedViolations).not.toHaveLength(0);
    for (const { acknowledgedAt, reason } of report.suppressedViolations) {
      // Not at a whole stack or app, where it would hold for what is yet to come.
      expect(acknowledgedAt).toMatch(/^PetStore-\w+\/\w/);
      expect(reason).toMatch(/^[A-Z].*\.$/);
    }
  });
});

describe.each(stageNames)('the stack of %s', (stage) => {
  const template = readableTemplate(stage);

  // A name of our own would block every replacement, and a second copy of the stack in the account.
  test('leaves names to CloudFormation', () => {
    const chosen =
      /^(Alarm|Application|Dashboard|DeploymentGroup|Function|LogGroup|ManagedPolicy|Role|Table|Topic)Name$/;
    const named = Object.entries<any>(template.Resources).flatMap(([name, { Type, Properties = {} }]) =>
      Object.keys(Properties)
        .filter((property) => chosen.test(property) || `${Type} ${property}` === 'AWS::WAFv2::WebACL Name')
        .filter((property) => !/^\$\{|\$\{AWS::StackId\}$/.test(Properties[property]))
        .map((property) => `${name} ${property}`),
    );
    expect(named).toEqual([]);
  });

  test('outputs the base URL, the table of keys and the topic of alarms', () => {
    expect(template.Outputs).toMatchObject({
      BaseUrl: {
        Value: `https://\${ApiRestApi}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}/\${ApiRestApiDeploymentStage${stage}}/v1`,
      },
      ApiKeysTable: { Value: '${StorageApiKeys}' },
      AlarmTopic: { Value: '${MonitoringAlarmTopic}' },
    });
    expect(Object.keys(template.Outputs)).toHaveLength(3);
  });

  test.each(resourcesOf(template, 'AWS::Logs::LogGroup'))('keeps %s as it promises', (_name, logGroup) => {
    expect(logGroup).toMatchObject(
      {
        staging: { Properties: { RetentionInDays: 14 }, DeletionPolicy: 'Delete' },
        production: {
          Properties: { RetentionInDays: 365 },
          DeletionPolicy: 'RetainExceptOnCreate',
          UpdateReplacePolicy: 'Retain',
        },
      }[stage],
    );
  });

  // There is one per account and region: a stage that owned it would take it from the others when it is deleted.
  test('owns neither the account settings of API Gateway nor anything of the other stage', () => {
    const text = JSON.stringify(template);
    expect(text).not.toContain('AWS::ApiGateway::Account');
    expect(text).not.toContain(stageNames.find((name) => name !== stage)!);
  });
});

// Other APIs of the account may rely on it by then, so both stay when the stack is deleted.
test('the stack of the account has the role under which API Gateway writes logs, and nothing else', () => {
  const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain', Metadata: expect.anything() };
  expect(readableTemplate('account').Resources).toEqual({
    LogRole: {
      Type: 'AWS::IAM::Role',
      Properties: {
        AssumeRolePolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Action: 'sts:AssumeRole',
              Effect: 'Allow',
              Principal: { Service: 'apigateway.amazonaws.com' },
              Condition: { StringEqualsIfExists: { 'aws:SourceAccount': '${AWS::AccountId}' } },
            },
          ],
        },
        ManagedPolicyArns: [
          'arn:${AWS::Partition}:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
        ],
      },
      ...retained,
    },
    ApiGatewayAccount: {
      Type: 'AWS::ApiGateway::Account',
      Properties: { CloudWatchRoleArn: '${LogRole.Arn}' },
      ...retained,
    },
  });
});

function readReport(name: string): any {
  return JSON.parse(readFileSync(join(assembly, name), 'utf8'));
}
