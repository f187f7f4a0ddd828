import { describe, expect, test } from '@jest/globals';
import { stages } from '../../infra/stages.ts';
import { asText, resourceOf, resourcesOf, stackTemplate, stageNames } from '../support/stack-template.ts';

const pets = 'StoragePets3FCA436D';
const apiKeys = 'StorageApiKeys7B037C32';

/** What each function is told, and what it may do with which table or index. */
const functions = {
  ListPets: {
    environment: { PETS_TABLE: `\${${pets}}`, LIST_PARTITIONS: '1' },
    actions: ['dynamodb:Query'],
    resources: [`\${${pets}.Arn}/index/newest`, `\${${pets}.Arn}/index/newest-by-status`],
  },
  CreatePet: {
    environment: { PETS_TABLE: `\${${pets}}`, LIST_PARTITIONS: '1' },
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
    resources: [`\${${pets}.Arn}`],
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

const names = Object.keys(functions) as (keyof typeof functions)[];

describe.each(stageNames)('the functions of %s', (stage) => {
  const template = stackTemplate(stage);

  test('are one for each operation, and the authorizer', () => {
    const ids = resourcesOf(template, 'AWS::Lambda::Function').map(([id]) => id.slice(0, -8));
    expect(ids.toSorted()).toEqual(names.toSorted());
  });

  describe.each(names)('%s', (name) => {
    const expected = functions[name];
    const [, { Properties: properties }] = resourceOf(template, 'AWS::Lambda::Function', name);
    const [roleId, role] = resourceOf(template, 'AWS::IAM::Role', `${name}Role`);
    const [logGroupId, logGroup] = resourceOf(template, 'AWS::Logs::LogGroup', `${name}Logs`);

    test('runs the handler of its bundle on Node.js 24 for arm64', () => {
      expect(properties).toMatchObject({
        Architectures: ['arm64'],
        Runtime: 'nodejs24.x',
        Handler: 'index.handler',
      });
    });

    test('has the memory and the time of its stage, and reserves no concurrency', () => {
      expect(properties).toMatchObject({
        MemorySize: stages[stage].functionMemoryMegabytes,
        Timeout: stages[stage].functionTimeoutSeconds,
      });
      expect(properties).not.toHaveProperty('ReservedConcurrentExecutions');
    });

    // 29 s is where API Gateway gives up: a function that ran on could finish what was told to have failed.
    test('ends before API Gateway stops waiting for it', () => {
      expect(properties['Timeout']).toBeLessThan(29);
    });

    test('writes JSON to a log group of its own, kept as long as the stage says', () => {
      expect(properties['LoggingConfig']).toEqual({ LogFormat: 'JSON', LogGroup: { Ref: logGroupId } });
      expect(logGroup.Properties).toEqual({ RetentionInDays: { staging: 14, production: 365 }[stage] });
      expect(logGroup.DeletionPolicy).toBe({ staging: 'Delete', production: 'Retain' }[stage]);
    });

    test('is told exactly what it needs', () => {
      const variables = Object.entries(properties['Environment'].Variables);
      expect(Object.fromEntries(variables.map(([key, value]) => [key, asText(value)]))).toEqual({
        ...expected.environment,
        ...(name === 'Authorizer' && { STAGE: stage }),
      });
    });

    test('has a role that only Lambda can take, without policies made elsewhere', () => {
      expect(properties['Role']).toEqual({ 'Fn::GetAtt': [roleId, 'Arn'] });
      expect(Object.keys(role.Properties)).toEqual(['AssumeRolePolicyDocument']);
      expect(role.Properties['AssumeRolePolicyDocument'].Statement).toEqual([
        { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' } },
      ]);
    });

    test('may write its log and use its table, and nothing else', () => {
      const policies = resourcesOf(template, 'AWS::IAM::Policy').filter(([, { Properties }]) =>
        Properties['Roles'].some(({ Ref }: { Ref: string }) => Ref === roleId),
      );
      const statements = policies.flatMap(([, { Properties }]) => Properties['PolicyDocument'].Statement);
      expect(statements.map(readable)).toEqual([
        {
          effect: 'Allow',
          actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          resources: [`\${${logGroupId}.Arn}`],
        },
        { effect: 'Allow', actions: expected.actions, resources: expected.resources },
      ]);
    });
  });

  test('have no wildcard in anything they are permitted', () => {
    const statements = resourcesOf(template, 'AWS::IAM::Policy').flatMap(
      ([, { Properties }]) => Properties['PolicyDocument'].Statement as Statement[],
    );
    const permitted = statements
      .map(readable)
      .flatMap(({ actions, resources }) => [...actions, ...resources]);
    expect(permitted).not.toHaveLength(0);
    expect(permitted.filter((text) => text.includes('*'))).toEqual([]);
  });

  test('learn of new list partitions before anything is put there', () => {
    const [listPets] = resourceOf(template, 'AWS::Lambda::Function', 'ListPets');
    const [, createPet] = resourceOf(template, 'AWS::Lambda::Function', 'CreatePet');
    expect(createPet.DependsOn).toContain(listPets);
  });
});

test.each(['ListPets', 'CreatePet'])('%s knows as many list partitions as the stage has', (name) => {
  const template = stackTemplate('staging', { settings: { ...stages.staging, listPartitions: 4 } });
  const [, { Properties }] = resourceOf(template, 'AWS::Lambda::Function', name);
  expect(Properties['Environment'].Variables.LIST_PARTITIONS).toBe('4');
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
