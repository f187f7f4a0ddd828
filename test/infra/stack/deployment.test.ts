import { describe, expect, test } from '@jest/globals';
import { findCycle } from '../../support/import-rules.ts';
import {
  functionNames,
  propertiesOf,
  readableTemplate,
  resourcesOf,
  stageNames,
} from '../../support/stack-template.ts';

describe('a deployment of production', () => {
  const template = readableTemplate('production');
  const { Resources } = template;

  test.each(functionNames)(
    'of %s is a canary, rolled back if it fails, is stopped or an alarm fires',
    (name) => {
      expect(Resources[`${name}Live`].UpdatePolicy).toEqual({
        CodeDeployLambdaAliasUpdate: {
          ApplicationName: '${Deployments}',
          DeploymentGroupName: `\${${name}Deployment}`,
        },
      });
      const { Properties, DependsOn } = Resources[`${name}Deployment`];
      expect(Properties).toEqual({
        ApplicationName: '${Deployments}',
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
        DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
        // Alarms are not ignored, even when CodeDeploy cannot read them.
        AlarmConfiguration: {
          Enabled: true,
          Alarms: [
            { Name: '${MonitoringApiServerErrors}' },
            { Name: `\${Monitoring${name}NewVersionErrors}` },
            // The authorizer decides and sends no response.
            ...(name === 'Authorizer' ? [] : [{ Name: `\${Monitoring${name}NewVersionInternalErrors}` }]),
          ],
        },
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
        },
        ServiceRoleArn: '${DeploymentRole.Arn}',
      });
      // CloudFormation may move the alias in the same update that creates the role.
      expect(DependsOn).toContain('DeploymentRoleDefaultPolicy');
    },
  );

  test('is for Lambda, with a group for each of these functions alone', () => {
    expect(propertiesOf(template, 'AWS::CodeDeploy::Application')).toEqual([{ ComputePlatform: 'Lambda' }]);
    expect(propertiesOf(template, 'AWS::CodeDeploy::DeploymentGroup')).toHaveLength(functionNames.length);
  });

  test('has a role that only CodeDeploy can assume, which may move these aliases, read alarms, and nothing else', () => {
    const { AssumeRolePolicyDocument, ...others } = Resources['DeploymentRole'].Properties;
    expect(AssumeRolePolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRole',
        Principal: { Service: 'codedeploy.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': '${AWS::AccountId}' } },
      },
    ]);
    // No managed policy, which would be for every function of the account.
    expect(others).toEqual({});
    const policies = propertiesOf(template, 'AWS::IAM::Policy').filter(({ Roles }) =>
      Roles.includes('${DeploymentRole}'),
    );
    const statements = policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
    const arns = functionNames.map((name) => `\${${name}.Arn}`);
    expect(
      statements.map(({ Effect, Action, Resource }) => [Effect, Action, new Set([Resource].flat())]),
    ).toEqual([
      [
        'Allow',
        ['lambda:GetAlias', 'lambda:UpdateAlias'],
        new Set(arns.flatMap((arn) => [arn, `${arn}:live`])),
      ],
      ['Allow', 'lambda:GetProvisionedConcurrencyConfig', new Set(arns.map((arn) => `${arn}:*`))],
      ['Allow', 'cloudwatch:DescribeAlarms', new Set(['*'])],
    ]);
    expect(resourcesOf(template, 'AWS::IAM::ManagedPolicy')).toEqual([]);
  });
});

test('a deployment of staging is immediate, without CodeDeploy', () => {
  const text = JSON.stringify(readableTemplate('staging').Resources);
  expect(text).not.toMatch(/CodeDeploy|codedeploy|UpdatePolicy|lambda:UpdateAlias/);
});

// CloudFormation rejects a template whose resources wait for each other in a circle, which a synth does not detect. They
// would if an alarm that deployments watch named the API stage by reference.
test.each(stageNames)('the resources of %s wait for each other without a circle', (stage) => {
  expect(circleIn(readableTemplate(stage).Resources)).toBeUndefined();
});

/** @returns a circle of resources that CloudFormation can create only after one another, or undefined if there is none. */
function circleIn(resources: Record<string, any>): string[] | undefined {
  const waits = Object.entries(resources).map(([id, { DependsOn = [], ...resource }]): [string, string[]] => {
    const references = [...JSON.stringify(resource).matchAll(/\$\{(\w+)/g)].map(([, name]) => name!);
    return [id, [...DependsOn, ...references].filter((name) => name in resources)];
  });
  return findCycle(new Map(waits));
}
