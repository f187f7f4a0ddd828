import { describe, expect, test } from '@jest/globals';
import { stagesOf } from '../../infra/settings.ts';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections } from '../../shared/contract/operations.ts';
import { constructOf } from '../support/invoke.ts';
import {
  functionNames,
  propertiesOf,
  readableTemplate,
  resourcesOf,
  stageNames,
  watchedBy,
} from '../support/stack-template.ts';
import { stages } from '../support/stages.ts';
import { templateOf } from '../support/template-of.ts';

const production = readableTemplate('production');
const alarmOf = (name: string) => production.Resources[`Monitoring${name}NewVersion`].Properties;

describe.each(stageNames)('in %s,', (stage) => {
  const { Resources } = readableTemplate(stage);

  test.each(functionNames)('live of %s is the newest version, and earlier versions are retained', (name) => {
    const { FunctionName, FunctionVersion } = Resources[`${name}Live`].Properties;
    expect([FunctionName, FunctionVersion]).toEqual([`\${${name}}`, `\${${name}CurrentVersion.Version}`]);
    expect(Resources[`${name}CurrentVersion`]).toMatchObject({
      Properties: { FunctionName: `\${${name}}` },
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    });
  });

  // CloudFormation rejects circular dependencies, but synthesis does not detect them.
  test('the resources have no circular dependencies', () => {
    const all = Object.entries(Resources).map(([id, resource]) => ({ id, needs: dependenciesOf(resource) }));
    let waiting = all;
    // As in CloudFormation, each round creates the resources that do not depend on a waiting resource.
    for (let round = 0; round < all.length; round += 1)
      waiting = waiting.filter(({ needs }) => waiting.some(({ id }) => needs.includes(id)));
    expect(waiting).toEqual([]);
  });
});

describe('in production, a new version', () => {
  test.each(functionNames)('of %s first gets 10%% of the requests, after its group watches it', (name) => {
    // The reference to the group also makes CloudFormation update the group first.
    expect(production.Resources[`${name}Live`].UpdatePolicy).toEqual({
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: '${CanaryApplication}',
        DeploymentGroupName: `\${Canary${name}}`,
      },
    });
    expect(production.Resources[`Canary${name}`].Properties).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      DeploymentStyle: { DeploymentType: 'BLUE_GREEN' },
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      },
      ServiceRoleArn: '${CanaryRole.Arn}',
    });
    expect(production.Resources[`Canary${name}`].DependsOn).toContain('CanaryRoleDefaultPolicy');
  });

  test.each([...collections])(
    'of $plural goes back if any function of the collection or the authorizer fails, and the authorizer with the first',
    (collection) => {
      const names = Object.values<Operation>(collection.operations).map(({ id }) => constructOf(id));
      const watched = [...names, 'Authorizer'];
      const Alarms = watched.map((name) => ({ Name: `\${Monitoring${name}NewVersion}` }));
      for (const name of collection === collections[0] ? watched : names)
        expect(production.Resources[`Canary${name}`].Properties.AlarmConfiguration).toEqual({
          Alarms,
          Enabled: true,
        });
    },
  );

  test.each(functionNames)('of %s has an alarm of its own, about this version only', (name) => {
    const version = `\${${name}CurrentVersion.Version}`;
    const alarm = alarmOf(name);
    expect(alarm.AlarmName).toBe(`PetStore-production-${name}-${version}`);
    const [crashes, ...responses] = watchedBy(alarm).map(({ Dimensions }: any) =>
      Object.fromEntries(Dimensions.map(({ Name, Value }: any) => [Name, Value])),
    );
    const FunctionName = `\${${name}}`;
    expect(crashes).toEqual({ FunctionName, Resource: `${FunctionName}:live`, ExecutedVersion: version });
    const operation = name.charAt(0).toLowerCase() + name.slice(1);
    const service = 'pet-store-production';
    expect(responses).toEqual(name === 'Authorizer' ? [] : [{ operation, service, version }]);
  });

  test('is moved by a role that can move only the aliases of these functions', () => {
    const policy = propertiesOf(production, 'AWS::IAM::Policy').find(({ Roles }) =>
      Roles.includes('${CanaryRole}'),
    );
    const { Statement } = policy.PolicyDocument;
    expect(production.Resources.CanaryRole.Properties).not.toHaveProperty('ManagedPolicyArns');
    expect(Statement.map(({ Action }: any) => Action)).toEqual([
      ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'],
      'cloudwatch:DescribeAlarms',
    ]);
    const arns = functionNames.flatMap((name) => [`\${${name}.Arn}`, `\${${name}.Arn}:live`]);
    expect(new Set(Statement[0].Resource)).toEqual(new Set(arns));
  });
});

test('staging has neither CodeDeploy nor its alarms', () => {
  expect(JSON.stringify(readableTemplate('staging'))).not.toMatch(/CodeDeploy|codedeploy|NewVersion/);
});

// If it removed the rest, the next deployment would have to create it again before its canary.
test('-c canary=off only lets the aliases point to new versions at once', () => {
  const alarmEmail = 'operators@example.com';
  const [on, off] = [{}, { canary: 'off' }].map((context) => {
    const [settings] = stagesOf({ production: { ...stages.production, alarmEmail } }, context);
    return templateOf({ stage: 'production', settings: settings! });
  });
  for (const [, alias] of resourcesOf(on!, 'AWS::Lambda::Alias')) {
    expect(alias).toHaveProperty('UpdatePolicy');
    delete (alias as any).UpdatePolicy;
  }
  expect(off).toEqual(on);
});

function dependenciesOf({ DependsOn = [], ...resource }: any): string[] {
  return [...DependsOn, ...Array.from(JSON.stringify(resource).matchAll(/\$\{(\w+)/g), ([, id]) => id)];
}
