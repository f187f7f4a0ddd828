import { describe, expect, test } from '@jest/globals';
import {
  functionNames,
  propertiesOf,
  readableTemplate,
  resourcesOf,
  stageNames,
} from '../../support/stack-template.ts';

describe('in production', () => {
  const template = readableTemplate('production');
  const { Resources } = template;

  test.each(functionNames)(
    'CodeDeploy deploys %s as a canary, which rolls back if it fails, is stopped or fires an alarm',
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
        // IgnorePollAlarmFailure must be omitted, so that a deployment stops if CodeDeploy cannot read the alarms.
        AlarmConfiguration: {
          Enabled: true,
          Alarms: [
            { Name: '${MonitoringApiServerErrors}' },
            { Name: `\${Monitoring${name}NewVersionErrors}` },
            // The authorizer never returns internal_error, so it has no alarm for this code.
            ...(name === 'Authorizer' ? [] : [{ Name: `\${Monitoring${name}NewVersionInternalErrors}` }]),
          ],
        },
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
        },
        ServiceRoleArn: '${DeploymentRole.Arn}',
      });
      expect(DependsOn).toContain('DeploymentRoleDefaultPolicy');
    },
  );

  test('the CodeDeploy application has one deployment group per function', () => {
    expect(propertiesOf(template, 'AWS::CodeDeploy::Application')).toEqual([{ ComputePlatform: 'Lambda' }]);
    expect(propertiesOf(template, 'AWS::CodeDeploy::DeploymentGroup')).toHaveLength(functionNames.length);
  });

  test('CodeDeploy’s role can only update the functions’ aliases and read alarms', () => {
    const { AssumeRolePolicyDocument, ...others } = Resources['DeploymentRole'].Properties;
    expect(AssumeRolePolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRole',
        Principal: { Service: 'codedeploy.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': '${AWS::AccountId}' } },
      },
    ]);
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

test('staging does not use CodeDeploy', () => {
  const text = JSON.stringify(readableTemplate('staging').Resources);
  expect(text).not.toMatch(/CodeDeploy|codedeploy|UpdatePolicy|lambda:UpdateAlias/);
});

// CloudFormation rejects circular dependencies, which synthesis does not detect. An alarm that deployments watch would
// cause a circular dependency if it referred to the API.
test.each(stageNames)('the resources of %s have no circular dependencies', (stage) => {
  const remaining = new Map(Object.entries<any>(readableTemplate(stage).Resources));
  const isFree = ([, resource]: [string, any]) =>
    !dependenciesOf(resource).some((name) => remaining.has(name));
  for (let free; (free = [...remaining].filter(isFree)).length > 0;)
    for (const [id] of free) remaining.delete(id);
  expect([...remaining.keys()]).toEqual([]);
});

/** Returns the names that a resource refers to, which include pseudo parameters. */
function dependenciesOf({ DependsOn = [], ...resource }: any): string[] {
  return [...DependsOn, ...Array.from(JSON.stringify(resource).matchAll(/\$\{(\w+)/g), ([, name]) => name!)];
}
