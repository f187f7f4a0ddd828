import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { changedTemplate } from '../../support/changed-stack.ts';
import { rowOf } from '../../support/rows.ts';
import {
  asText,
  functionNames,
  type Resource,
  resourceOf,
  resourcesOf,
  stackTemplate,
  stageNames,
} from '../../support/stack-template.ts';

const pets = 'StoragePets3FCA436D';
const intents = 'StorageIntents0244ABA8';
const apiKeys = 'StorageApiKeys7B037C32';

/** What each function is told beside the names of the stage, and what it may do with which table or index. */
const functions = {
  ListPets: {
    environment: { PETS_TABLE: `\${${pets}}`, LIST_PARTITIONS: '1' },
    actions: ['dynamodb:Query'],
    resources: [`\${${pets}.Arn}/index/newest`, `\${${pets}.Arn}/index/newest-by-status`],
  },
  CreatePet: {
    environment: { PETS_TABLE: `\${${pets}}`, INTENTS_TABLE: `\${${intents}}`, LIST_PARTITIONS: '1' },
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
    resources: [`\${${intents}.Arn}`, `\${${pets}.Arn}`],
  },
  GetPet: {
    environment: { PETS_TABLE: `\${${pets}}` },
    actions: ['dynamodb:GetItem'],
    resources: [`\${${pets}.Arn}`],
  },
  Authorizer: {
    environment: { API_KEYS_TABLE: `\${${apiKeys}}` },
    actions: ['dynamodb:GetItem'],
    resources: [`\${${apiKeys}.Arn}`],
  },
};

const names = functionNames;

/** X-Ray knows no resources. */
const tracing = {
  effect: 'Allow',
  actions: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'],
  resources: ['*'],
};

describe.each(stageNames)('the functions of %s', (stage) => {
  const template = stackTemplate(stage);

  test('are one for each operation, and the authorizer', () => {
    const operationNames = Object.keys(operations).map((id) => `${id.charAt(0).toUpperCase()}${id.slice(1)}`);
    expect(names.toSorted()).toEqual([...operationNames, 'Authorizer'].toSorted());
  });

  describe.each(names)('%s', (name) => {
    const expected = rowOf(
      functions,
      name,
      'add what it is told and may do to test/infra/stack/functions.test.ts',
    );
    const [functionId, { Properties: properties }] = resourceOf(template, 'AWS::Lambda::Function', name);
    const [roleId, role] = resourceOf(template, 'AWS::IAM::Role', `${name}Role`);
    const [logGroupId, logGroup] = resourceOf(template, 'AWS::Logs::LogGroup', `${name}Logs`);

    test('runs the handler of its bundle on Node.js 24 for arm64', () => {
      expect(properties).toMatchObject({
        Architectures: ['arm64'],
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
      });
    });

    test('has the time of its stage, and reserves no concurrency', () => {
      expect(properties).toMatchObject({
        Timeout: stages[stage].functionTimeoutSeconds,
      });
      expect(properties).not.toHaveProperty('ReservedConcurrentExecutions');
    });

    // 29 s is where API Gateway gives up: a function that ran on could finish what was told to have failed.
    test('ends before API Gateway stops waiting for it', () => {
      expect(properties['Timeout']).toBeLessThan(29);
    });

    test('is traced', () => {
      expect(properties['TracingConfig']).toEqual({ Mode: 'Active' });
    });

    test('is called as the one version that is in use', () => {
      const versions = resourcesOf(template, 'AWS::Lambda::Version').filter(
        ([, { Properties }]) => Properties['FunctionName'].Ref === functionId,
      );
      const [[versionId]] = versions as [[string, Resource]];
      expect(versions).toHaveLength(1);

      const [, alias] = resourceOf(template, 'AWS::Lambda::Alias', `${name}Live`);
      expect(alias.Properties).toEqual({
        FunctionName: { Ref: functionId },
        FunctionVersion: { 'Fn::GetAtt': [versionId, 'Version'] },
        Name: 'live',
      });
    });

    // What a rollback goes back to.
    test('keeps its versions', () => {
      const [, version] = resourcesOf(template, 'AWS::Lambda::Version').find(
        ([, { Properties }]) => Properties['FunctionName'].Ref === functionId,
      )!;
      expect(version).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    });

    test('writes JSON to a log group of its own, kept as long as the stage says', () => {
      expect(properties['LoggingConfig']).toEqual({
        LogFormat: 'JSON',
        LogGroup: { Ref: logGroupId },
        SystemLogLevel: 'WARN',
      });
      expect(logGroup.Properties).toEqual({ RetentionInDays: { staging: 14, production: 365 }[stage] });
      expect(logGroup.DeletionPolicy).toBe({ staging: 'Delete', production: 'RetainExceptOnCreate' }[stage]);
    });

    test('is told exactly what it needs', () => {
      const variables = Object.entries(properties['Environment'].Variables);
      expect(Object.fromEntries(variables.map(([key, value]) => [key, asText(value)]))).toEqual({
        ...expected.environment,
        ...(name === 'Authorizer' ? { STAGE: stage } : { POWERTOOLS_SERVICE_NAME: `pet-store-${stage}` }),
      });
    });

    test('has a role that only Lambda can take, without policies made elsewhere', () => {
      expect(properties['Role']).toEqual({ 'Fn::GetAtt': [roleId, 'Arn'] });
      expect(Object.keys(role.Properties)).toEqual(['AssumeRolePolicyDocument']);
      expect(role.Properties['AssumeRolePolicyDocument'].Statement).toEqual([
        { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' } },
      ]);
    });

    test('may write its log, use its tables and send traces, and nothing else', () => {
      const policies = resourcesOf(template, 'AWS::IAM::Policy').filter(([, { Properties }]) =>
        Properties['Roles'].some(({ Ref }: { Ref: string }) => Ref === roleId),
      );
      const statements = policies.flatMap(([, { Properties }]) => Properties['PolicyDocument'].Statement);
      expect(statements.map(readable)).toEqual([
        { effect: 'Allow', actions: expected.actions, resources: expected.resources },
        {
          effect: 'Allow',
          actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          resources: [`\${${logGroupId}.Arn}`],
        },
        tracing,
      ]);
    });
  });

  test('are called as the version in use by all who call them', () => {
    const aliases = resourcesOf(template, 'AWS::Lambda::Alias').map(([id]) => ({ Ref: id }));
    const called = resourcesOf(template, 'AWS::Lambda::Permission').map(
      ([, { Properties }]) => Properties['FunctionName'],
    );
    expect(aliases).toHaveLength(names.length);
    expect(called).toHaveLength(names.length);
    expect(called).toEqual(expect.arrayContaining(aliases));
  });

  test('have no wildcard in anything they are permitted but in sending traces', () => {
    const statements = resourcesOf(template, 'AWS::IAM::Policy').flatMap(
      ([, { Properties }]) => Properties['PolicyDocument'].Statement as Statement[],
    );
    const wide = statements
      .map(readable)
      .filter(({ actions, resources }) => [...actions, ...resources].some((text) => text.includes('*')));
    const readingAlarms = { effect: 'Allow', actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] };
    expect(wide).toEqual([
      ...names.map(() => tracing),
      // By CodeDeploy, which looks at the alarms of a deployment.
      ...(stages[stage].deploysByCanary ? [readingAlarms] : []),
    ]);
  });
});

describe('a stage that gets more list partitions', () => {
  const settings = { ...stages.staging, listPartitions: 4, recordedListPartitions: 2 };
  const template = changedTemplate('staging', { settings });

  // Whatever is deployed or rolled back first, no pet is put where lists do not look.
  test.each([
    ['asks all of them for lists', 'ListPets', '4'],
    ['puts new pets only where the last finished deployment asks', 'CreatePet', '2'],
  ])('%s', (_what, name, partitions) => {
    const [, { Properties }] = resourceOf(template, 'AWS::Lambda::Function', name);
    expect(Properties['Environment'].Variables.LIST_PARTITIONS).toBe(partitions);
  });
});

interface Statement {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
}

/** A statement with its members always lists, and its references as text. */
function readable({ Effect, Action, Resource, ...rest }: Statement) {
  return {
    effect: Effect,
    actions: [Action].flat(),
    resources: [Resource].flat().map(asText),
    ...rest,
  };
}
