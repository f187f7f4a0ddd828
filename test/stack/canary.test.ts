import { describe, expect, test } from '@jest/globals';
import type { Operation } from '../../shared/contract/operation.ts';
import { collections } from '../../shared/contract/operations.ts';
import { constructOf } from '../support/invoke.ts';
import {
  functionNames,
  ofEachFunction,
  propertiesOf,
  readable,
  readableTemplate,
  resourcesOf,
  watchedBy,
} from '../support/stack-template.ts';
import { variantTemplate } from './variants.ts';

const production = readableTemplate('production');

test('live is the newest version of its function, and earlier versions are retained', () => {
  const found = ofEachFunction((name) => {
    const { [`${name}Live`]: alias, [`${name}CurrentVersion`]: version } = production.Resources;
    const { FunctionName, FunctionVersion } = alias.Properties;
    return [FunctionName, FunctionVersion, version.DeletionPolicy, version.UpdateReplacePolicy];
  });
  expect(found).toEqual(
    ofEachFunction((name) => [
      `\${${name}}`,
      `\${${name}CurrentVersion.Version}`,
      'RetainExceptOnCreate',
      'Retain',
    ]),
  );
});

describe('in production, a new version', () => {
  test('first gets 10% of the requests, after its group watches it', () => {
    // The reference to the group also makes CloudFormation update the group first.
    expect(ofEachFunction((name) => production.Resources[`${name}Live`].UpdatePolicy)).toEqual(
      ofEachFunction((name) => ({
        CodeDeployLambdaAliasUpdate: {
          ApplicationName: '${CanaryApplication}',
          DeploymentGroupName: `\${Canary${name}}`,
        },
      })),
    );
    const group = {
      Properties: expect.objectContaining({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
        DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
        },
        ServiceRoleArn: '${CanaryRole.Arn}',
      }),
      DependsOn: expect.arrayContaining(['CanaryRoleDefaultPolicy']),
    };
    expect(ofEachFunction((name) => production.Resources[`Canary${name}`])).toEqual(
      ofEachFunction(() => expect.objectContaining(group)),
    );
  });

  test('goes back if any function of its collection or the authorizer fails, and the authorizer with the first collection', () => {
    const watched = ofEachFunction((name) => {
      const { Alarms, Enabled } = production.Resources[`Canary${name}`].Properties.AlarmConfiguration;
      return Enabled && Alarms.map(({ Name }: any) => Name);
    });
    const together = collections.map(({ operations }) => [
      ...Object.values<Operation>(operations).map(({ id }) => constructOf(id)),
      'Authorizer',
    ]);
    expect(watched).toEqual(
      ofEachFunction((name) =>
        together.find((names) => names.includes(name))!.map((one) => `\${Monitoring${one}NewVersion}`),
      ),
    );
  });

  test('has an alarm of its own, about this version only', () => {
    const found = ofEachFunction((name) => {
      const alarm = production.Resources[`Monitoring${name}NewVersion`].Properties;
      const watched = watchedBy(alarm).map(({ Dimensions }: any) =>
        Object.fromEntries(Dimensions.map(({ Name, Value }: any) => [Name, Value])),
      );
      return [alarm.AlarmName, ...watched];
    });
    const expected = ofEachFunction((name) => {
      const version = `\${${name}CurrentVersion.Version}`;
      const FunctionName = `\${${name}}`;
      const operation = name.charAt(0).toLowerCase() + name.slice(1);
      return [
        `PetStore-production-${name}-${version}`,
        { FunctionName, Resource: `${FunctionName}:live`, ExecutedVersion: version },
        ...(name === 'Authorizer' ? [] : [{ operation, service: 'pet-store-production', version }]),
      ];
    });
    expect(found).toEqual(expected);
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
test('-c canary=off only lets the aliases point to new versions at once', async () => {
  const off = readable(await variantTemplate('everySetting'));
  for (const [, alias] of resourcesOf(off, 'AWS::Lambda::Alias'))
    expect(alias).not.toHaveProperty('UpdatePolicy');
  const partsIn = ({ Resources }: typeof off) =>
    Object.keys(Resources).filter((id) => /^Canary|NewVersion$/.test(id));
  expect(partsIn(off)).toEqual(partsIn(production));
});
