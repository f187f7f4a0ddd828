import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedSynthesis } from '../../support/assembly.ts';
import { readableTemplate, resourcesOf, stageNames } from '../../support/stack-template.ts';

const { assembly, code, stdout } = await sharedSynthesis();

describe('cdk synth', () => {
  test('creates one stack per stage that depends on the account stack', () => {
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
    expect(Object.fromEntries(stacks)).toEqual({
      'PetStore-account': { isProtected: true, isAfterAccount: false },
      'PetStore-staging': { isProtected: false, isAfterAccount: true },
      'PetStore-production': { isProtected: true, isAfterAccount: true },
    });
  });

  test('accepts a cdk-nag finding only if its construct acknowledges the finding', () => {
    const report = readReport('validation-report.json').pluginReports.find(
      ({ pluginName }: any) => pluginName === 'AwsSolutions',
    );
    expect(report).toMatchObject({ conclusion: 'success', violations: [] });
    expect(report.suppressedViolations).not.toHaveLength(0);
    for (const { acknowledgedAt, reason } of report.suppressedViolations) {
      // An acknowledgment in a stack or app is not allowed, because it would also cover new constructs.
      expect(acknowledgedAt).toMatch(/^PetStore-\w+\/\w/);
      expect(reason).toMatch(/^[A-Z].*\.$/);
    }
  });
});

describe.each(stageNames)('the stack of %s', (stage) => {
  const template = readableTemplate(stage);

  // A fixed name would prevent CloudFormation from replacing the resource and from creating a second stack.
  test('lets CloudFormation choose resource names', () => {
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

  test('outputs the base URL, the API key table and the alarm topic', () => {
    expect(template.Outputs).toMatchObject({
      BaseUrl: {
        Value: `https://\${ApiRestApi}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}/\${ApiRestApiDeploymentStage${stage}}/v1`,
      },
      ApiKeysTable: { Value: '${StorageApiKeys}' },
      AlarmTopic: { Value: '${MonitoringAlarmTopic}' },
    });
    expect(Object.keys(template.Outputs)).toHaveLength(3);
  });

  const logGroups = resourcesOf(template, 'AWS::Logs::LogGroup');
  test.each(logGroups)('keeps the logs in %s for the configured time', (_name, logGroup) => {
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

  test('does not contain account settings or the name of another stage', () => {
    const text = JSON.stringify(template);
    expect(text).not.toContain('AWS::ApiGateway::Account');
    expect(text).not.toContain(stageNames.find((name) => name !== stage)!);
  });
});

// Deleting the stack retains both resources, because other APIs in the account can depend on them.
test('the account stack contains only the role that API Gateway uses to write logs', () => {
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
