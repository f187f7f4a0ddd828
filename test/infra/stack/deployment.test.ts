import { describe, expect, test } from '@jest/globals';
import type { StageSettings } from '../../../infra/settings.ts';
import { type StageName, stages } from '../../../infra/stages.ts';
import { changedTemplate } from '../../support/changed-stack.ts';
import {
  asText,
  type Resource,
  resourceOf,
  resourcesOf,
  functionNames,
  stackTemplate,
  stageNames,
  type StackTemplate,
} from '../../support/stack-template.ts';

type Alias = Resource & {
  UpdatePolicy?: { CodeDeployLambdaAliasUpdate: Record<'ApplicationName' | 'DeploymentGroupName', unknown> };
};

describe.each(stageNames)('each function of %s', (stage) => {
  const template = stackTemplate(stage);

  test.each(functionNames)('stands behind an alias onto its newest version: %s', (name) => {
    const { functionId, versionId, alias } = partsOf(template, name);
    expect(alias.Properties).toEqual({
      Name: 'live',
      FunctionName: { Ref: functionId },
      FunctionVersion: { 'Fn::GetAtt': [versionId, 'Version'] },
    });
  });

  // It is what a rollback goes back to. What a failed update made must go: Lambda publishes no code twice in a row.
  test.each(functionNames)('keeps the versions that came before: %s', (name) => {
    const { version } = partsOf(template, name);
    expect([version.DeletionPolicy, version.UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain']);
  });

  describe('has a new version', () => {
    test.each<[string, Partial<StageSettings>, string[]]>([
      ['functionTimeoutSeconds', { functionTimeoutSeconds: 11 }, functionNames],
      ['listPartitions', { listPartitions: 2 }, ['ListPets']],
      [
        'listPartitions and recordedListPartitions',
        { listPartitions: 2, recordedListPartitions: 2 },
        ['ListPets', 'CreatePet'],
      ],
    ])('when %s changes what runs, and not otherwise', (_settings, changes, changed) => {
      expect(newVersions(stage, changes)).toEqual(changed);
    });

    test('not for a setting that leaves the functions alone', () => {
      expect(newVersions(stage, { requestsPerSecond: 7, logRetentionDays: 30 })).toEqual([]);
    });
  });

  test('waits for nothing that waits for it', () => {
    expect(cycleIn(template.Resources)).toBeUndefined();
  });
});

describe('a deployment of production', () => {
  const template = stackTemplate('production');
  const [roleId, role] = resourceOf(template, 'AWS::IAM::Role', 'DeploymentRole');

  describe.each(functionNames)('of %s', (name) => {
    const { functionId, versionId, alias } = partsOf(template, name);
    const [groupId, group] = resourceOf(template, 'AWS::CodeDeploy::DeploymentGroup', `${name}Deployment`);

    test('goes through a deployment group of its own', () => {
      const [[applicationId, application]] = resourcesOf(template, 'AWS::CodeDeploy::Application') as [any];
      expect(application.Properties).toEqual({ ComputePlatform: 'Lambda' });
      expect(alias.UpdatePolicy).toEqual({
        CodeDeployLambdaAliasUpdate: {
          ApplicationName: { Ref: applicationId },
          DeploymentGroupName: { Ref: groupId },
        },
      });
      expect(group.Properties['ApplicationName']).toEqual({ Ref: applicationId });
    });

    test('gives the new version a tenth of the requests for five minutes', () => {
      expect(group.Properties).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        DeploymentStyle: { DeploymentOption: 'WITH_TRAFFIC_CONTROL', DeploymentType: 'BLUE_GREEN' },
      });
    });

    test('watches errors of the new version and 5xx of the API', () => {
      const alarmIds = [`Monitoring${name}NewVersionErrors`, 'MonitoringApiServerErrors'].map(
        (alarm) => resourceOf(template, 'AWS::CloudWatch::Alarm', alarm)[0],
      );
      const { Alarms, ...others } = group.Properties['AlarmConfiguration'];
      expect(Alarms.map(({ Name }: any) => asText(Name))).toEqual(alarmIds.map((id) => `\${${id}}`));
      // Neither passed over nor left out when CloudWatch cannot be asked.
      expect(others).toEqual({ Enabled: true });
    });

    test('takes for errors of the new version those of the version that the alias is led to', () => {
      const [, { Properties }] = resourceOf(
        template,
        'AWS::CloudWatch::Alarm',
        `Monitoring${name}NewVersionErrors`,
      );
      const metrics = new Map<string, any>(
        Properties['Metrics']
          .filter(({ MetricStat }: any) => MetricStat)
          .map((one: any) => [one.Id, one.MetricStat]),
      );
      const seen = (id: string) => {
        const { Metric, Stat, Period } = metrics.get(id);
        const dimensions = Metric.Dimensions.map(({ Name, Value }: any) => [Name, asText(Value)]);
        return { ...Metric, Dimensions: Object.fromEntries(dimensions), Stat, Period };
      };
      const version = `\${${versionId}.Version}`;
      expect(asText(alias.Properties['FunctionVersion'])).toBe(version);
      expect(seen('crashes')).toEqual({
        Namespace: 'AWS/Lambda',
        MetricName: 'Errors',
        Dimensions: {
          FunctionName: `\${${functionId}}`,
          Resource: `\${${functionId}}:${alias.Properties['Name']}`,
          ExecutedVersion: version,
        },
        Stat: 'Sum',
        Period: 60,
      });
      // What its code threw, which is answered and no error to Lambda.
      expect(seen('faults')).toEqual({
        Namespace: 'PetStore',
        MetricName: 'InternalErrors',
        Dimensions: {
          service: 'pet-store-production',
          operation: name.charAt(0).toLowerCase() + name.slice(1),
          version,
        },
        Stat: 'Sum',
        Period: 60,
      });
      const expression = Properties['Metrics'].find(({ Expression }: any) => Expression);
      expect(expression.Expression).toBe('SUM([FILL(crashes, 0), FILL(faults, 0)])');
      expect(Properties).toMatchObject({ EvaluationPeriods: 1, Threshold: 1 });
    });

    test('is taken back when it fails, is stopped or an alarm rings', () => {
      expect(group.Properties['AutoRollbackConfiguration']).toEqual({
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      });
    });

    // CloudFormation may move the alias in the same update that makes the role.
    test('is done under the role for deployments, once that has its permissions', () => {
      const [policyId] = resourceOf(template, 'AWS::IAM::Policy', 'DeploymentRoleDefaultPolicy');
      expect(group.Properties['ServiceRoleArn']).toEqual({ 'Fn::GetAtt': [roleId, 'Arn'] });
      expect(group.DependsOn).toContain(policyId);
    });
  });

  test('is done by groups for these functions alone', () => {
    expect(resourcesOf(template, 'AWS::CodeDeploy::DeploymentGroup')).toHaveLength(functionNames.length);
  });

  describe('has a role', () => {
    test('that CodeDeploy alone may take', () => {
      const { AssumeRolePolicyDocument, ...others } = role.Properties;
      expect(AssumeRolePolicyDocument.Statement).toEqual([
        { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'codedeploy.amazonaws.com' } },
      ]);
      // No managed policy, which would be for every function of the account.
      expect(others).toEqual({});
    });

    test('that may move the aliases of these functions, read alarms, and nothing else', () => {
      const functionIds = functionNames.map((name) => partsOf(template, name).functionId);
      const statements = resourcesOf(template, 'AWS::IAM::Policy')
        .filter(([, { Properties }]) => Properties['Roles'].map(asText).includes(`\${${roleId}}`))
        .flatMap(([, { Properties }]) => Properties['PolicyDocument'].Statement);
      expect(statements.map(withSortedTexts)).toEqual([
        {
          Effect: 'Allow',
          Action: ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'],
          Resource: functionIds.flatMap((id) => [`\${${id}.Arn}`, `\${${id}.Arn}:live`]).toSorted(),
        },
        { Effect: 'Allow', Action: ['cloudwatch:DescribeAlarms'], Resource: ['*'] },
      ]);
      expect(resourcesOf(template, 'AWS::IAM::ManagedPolicy')).toEqual([]);
    });
  });
});

describe('a deployment of staging', () => {
  const template = stackTemplate('staging');
  const resources = Object.values<Alias>(template.Resources);

  test('is at once, without CodeDeploy', () => {
    expect(resources.filter(({ Type }) => Type.startsWith('AWS::CodeDeploy::'))).toEqual([]);
    expect(resources.filter(({ UpdatePolicy }) => UpdatePolicy)).toEqual([]);
  });

  test('lets nobody else move its aliases', () => {
    expect(JSON.stringify(resources)).not.toMatch(/codedeploy|lambda:UpdateAlias/);
  });
});

// CloudFormation refuses a template in which resources wait for each other in a circle; a synth does not see it.
describe('the search for circles', () => {
  const template = stackTemplate('production');
  const [alarmId] = resourceOf(template, 'AWS::CloudWatch::Alarm', 'MonitoringApiServerErrors');
  const [stageId] = resourcesOf(template, 'AWS::ApiGateway::Stage')[0]!;
  const { aliasId, versionId } = partsOf(template, 'GetPet');

  test('sees the one of an alarm that names the stage by reference', () => {
    const resources = structuredClone(template.Resources);
    resources[alarmId]!.Properties['Metrics'][1].MetricStat.Metric.Dimensions[1].Value = { Ref: stageId };
    const cycle = cycleIn(resources);
    expect(cycle).toEqual(expect.arrayContaining([alarmId, stageId]));
    expect(cycle?.at(0)).toBe(cycle?.at(-1));
  });

  test.each<[string, (resource: any) => void]>([
    ['Fn::GetAtt', (resource) => (resource.Properties.Description = { 'Fn::GetAtt': [aliasId, 'Arn'] })],
    ['Fn::Sub', (resource) => (resource.Properties.Description = { 'Fn::Sub': `to \${${aliasId}}` })],
    [
      'an attribute in Fn::Sub',
      (resource) => (resource.Properties.Description = { 'Fn::Sub': [`\${${aliasId}.Arn}`, {}] }),
    ],
    ['DependsOn', (resource) => (resource.DependsOn = [aliasId])],
    ['a single DependsOn', (resource) => (resource.DependsOn = aliasId)],
  ])('sees one by %s', (_way, refer) => {
    const resources = structuredClone(template.Resources);
    refer(resources[versionId]);
    expect(cycleIn(resources)).toHaveLength(3);
  });
});

interface Parts {
  functionId: string;
  versionId: string;
  version: Resource;
  aliasId: string;
  alias: Alias;
}

function partsOf(template: StackTemplate, name: string): Parts {
  const [functionId] = resourceOf(template, 'AWS::Lambda::Function', name);
  const versions = resourcesOf(template, 'AWS::Lambda::Version').filter(
    ([, { Properties }]) => asText(Properties['FunctionName']) === `\${${functionId}}`,
  );
  if (versions.length !== 1) throw new Error(`There are ${versions.length} versions of ${name}.`);
  const [[versionId, version]] = versions as [[string, Resource]];
  const [aliasId, alias] = resourceOf(template, 'AWS::Lambda::Alias', `${name}Live`);
  return { functionId, versionId, version, aliasId, alias };
}

/** The functions whose version is another one under changed settings: CloudFormation publishes it. */
function newVersions(stage: StageName, changes: Partial<StageSettings>): string[] {
  const [before, after] = [
    changedTemplate(stage),
    changedTemplate(stage, { settings: { ...stages[stage], ...changes } }),
  ];
  return functionNames.filter((name) => partsOf(before, name).versionId !== partsOf(after, name).versionId);
}

/** A statement of a policy with the order of what it names taken out. */
function withSortedTexts({ Action, Resource: resources, ...others }: any): object {
  return { ...others, Action: sortedTexts(Action), Resource: sortedTexts(resources) };
}

function sortedTexts(value: unknown): string[] {
  return [value].flat().map(asText).toSorted();
}

/** A circle of resources each of which CloudFormation creates after the next one, first and last the same. */
function cycleIn(resources: Record<string, unknown>): string[] | undefined {
  const finished = new Set<string>();
  function visit(id: string, path: string[]): string[] | undefined {
    if (path.includes(id)) return [...path.slice(path.indexOf(id)), id];
    if (finished.has(id)) return undefined;
    for (const next of referencesIn(resources[id])) {
      const cycle = next in resources ? visit(next, [...path, id]) : undefined;
      if (cycle) return cycle;
    }
    finished.add(id);
    return undefined;
  }
  for (const id of Object.keys(resources)) {
    const cycle = visit(id, []);
    if (cycle) return cycle;
  }
  return undefined;
}

/** Logical ids that a part of a template refers to. */
function referencesIn(part: any): string[] {
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries<any>(part).flatMap(([name, value]) => {
    if (name === 'Ref' || name === 'DependsOn') return value;
    if (name === 'Fn::GetAtt') return Array.isArray(value) ? value[0] : value.split('.')[0];
    if (name === 'Fn::Sub') {
      const [text, values = {}] = [value].flat();
      const named = Array.from(text.matchAll(/\$\{([\w:]+)/g), ([, id]: any) => id as string);
      return [...named, ...referencesIn(values)];
    }
    return referencesIn(value);
  });
}
