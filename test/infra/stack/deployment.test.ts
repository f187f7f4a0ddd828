import { describe, expect, test } from '@jest/globals';
import { functionNames, readableTemplate, stageNames } from '../../support/stack-template.ts';

// alarms.test.ts tests whether errors during a canary fire the alarms.
test.each(functionNames)(
  'CodeDeploy deploys %s in production, and rolls back if the deployment fails, is stopped or fires an alarm',
  (name) => {
    const { Resources } = readableTemplate('production');
    const DeploymentGroupName = `\${${name}Deployment}`;
    expect(Resources[`${name}Live`].UpdatePolicy).toEqual({
      CodeDeployLambdaAliasUpdate: { ApplicationName: '${Deployments}', DeploymentGroupName },
    });
    const { Properties, DependsOn } = Resources[`${name}Deployment`];
    const Events = ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'];
    expect(Properties.AutoRollbackConfiguration).toEqual({ Enabled: true, Events });
    // The authorizer never returns internal_error, so the authorizer has no alarm for this code.
    const metrics = ['Errors', 'Rejections', ...(name === 'Authorizer' ? [] : ['InternalErrors'])];
    const ofStage = ['ApiServerErrors', 'ApiRejectedRequests', 'FirewallBlocks'];
    const alarms = [...ofStage, ...metrics.map((metric) => `${name}NewVersion${metric}`)];
    // IgnorePollAlarmFailure must be omitted, so that a deployment stops if CodeDeploy cannot read the alarms.
    const Alarms = alarms.map((alarm) => ({ Name: `\${Monitoring${alarm}}` }));
    expect(Properties.AlarmConfiguration).toEqual({ Enabled: true, Alarms });
    expect(DependsOn).toContain('DeploymentRoleDefaultPolicy');
  },
);

describe.each(stageNames)('in %s', (stage) => {
  const { Resources } = readableTemplate(stage);

  test.each(functionNames)(
    'the alias of %s refers to the newest version, and earlier versions are retained',
    (name) => {
      const { FunctionName, FunctionVersion } = Resources[`${name}Live`].Properties;
      expect([FunctionName, FunctionVersion]).toEqual([`\${${name}}`, `\${${name}CurrentVersion.Version}`]);
      expect(Resources[`${name}CurrentVersion`]).toMatchObject({
        Properties: { FunctionName: `\${${name}}` },
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    },
  );

  // CloudFormation rejects circular dependencies, but synthesis does not detect them. For example, alarms that
  // deployments watch must not refer to the API, because such a reference would cause a circular dependency.
  test('the resources have no circular dependencies', () => {
    const all = Object.entries(Resources).map(([id, resource]) => ({ id, needs: dependenciesOf(resource) }));
    let waiting = all;
    // As in CloudFormation, each round creates the resources that do not depend on a waiting resource.
    for (let round = 0; round < all.length; round += 1)
      waiting = waiting.filter(({ needs }) => waiting.some(({ id }) => needs.includes(id)));
    expect(waiting).toEqual([]);
  });
});

test('staging has no canary deployments', () => {
  const text = JSON.stringify(readableTemplate('staging').Resources);
  expect(text).not.toMatch(/CodeDeploy|codedeploy|UpdatePolicy|lambda:UpdateAlias/);
});

function dependenciesOf({ DependsOn = [], ...resource }: any): string[] {
  return [...DependsOn, ...Array.from(JSON.stringify(resource).matchAll(/\$\{(\w+)/g), ([, id]) => id)];
}
