import { describe, expect, test } from '@jest/globals';
import { stages } from '../../../infra/stages.ts';
import { rowOf } from '../../support/operations.ts';
import { functionNames, propertiesOf, readableTemplate, stageNames } from '../../support/stack-template.ts';

const table = (name: string) => ({ tableName: `\${Storage${name}}`, tableArn: `\${Storage${name}.Arn}` });
const [pets, intents, apiKeys] = [table('Pets'), table('Intents'), table('ApiKeys')];

/** Expected permissions and environment variables, except for variables with the stage's name. */
const functions = {
  ListPets: {
    environment: { PETS_TABLE: pets.tableName, LIST_PARTITIONS: '1' },
    actions: 'dynamodb:Query',
    resources: [`${pets.tableArn}/index/newest`, `${pets.tableArn}/index/newest-by-status`],
  },
  CreatePet: {
    environment: { PETS_TABLE: pets.tableName, INTENTS_TABLE: intents.tableName, LIST_PARTITIONS: '1' },
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
    resources: [intents.tableArn, pets.tableArn].toSorted(),
  },
  GetPet: {
    environment: { PETS_TABLE: pets.tableName },
    actions: 'dynamodb:GetItem',
    resources: pets.tableArn,
  },
  Authorizer: {
    environment: { API_KEYS_TABLE: apiKeys.tableName },
    actions: 'dynamodb:GetItem',
    resources: apiKeys.tableArn,
  },
};

describe.each(stageNames)('the functions of %s', (stage) => {
  const template = readableTemplate(stage);
  const { Resources } = template;

  describe.each(functionNames)('%s', (name) => {
    const { environment, actions, resources } = rowOf<(typeof functions)['CreatePet' | 'GetPet']>(
      functions as any,
      name,
      'add the function’s environment and permissions to test/infra/stack/functions.test.ts',
    );
    const { Properties: properties } = Resources[name];

    test('has the configured environment and logs JSON to its own log group', () => {
      expect(properties).toMatchObject({
        Architectures: ['arm64'],
        Timeout: stages[stage].functionTimeoutSeconds,
        TracingConfig: { Mode: 'Active' },
        LoggingConfig: { LogFormat: 'JSON', LogGroup: `\${${name}Logs}`, SystemLogLevel: 'WARN' },
      });
      expect(properties).not.toHaveProperty('ReservedConcurrentExecutions');
      expect(properties.Environment.Variables).toEqual({
        ...environment,
        ...(name === 'Authorizer' ? { STAGE: stage } : { POWERTOOLS_SERVICE_NAME: `pet-store-${stage}` }),
      });
    });

    test('publishes its newest version and retains earlier versions', () => {
      expect(Resources[`${name}Live`].Properties).toEqual({
        Name: 'live',
        FunctionName: `\${${name}}`,
        FunctionVersion: `\${${name}CurrentVersion.Version}`,
      });
      expect(Resources[`${name}CurrentVersion`]).toMatchObject({
        Properties: { FunctionName: `\${${name}}` },
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    });

    test('has a role without managed policies that only Lambda can assume', () => {
      expect(properties.Role).toBe(`\${${name}Role.Arn}`);
      const { AssumeRolePolicyDocument, ...others } = Resources[`${name}Role`].Properties;
      expect(AssumeRolePolicyDocument.Statement).toEqual([
        {
          Action: 'sts:AssumeRole',
          Effect: 'Allow',
          Principal: { Service: 'lambda.amazonaws.com' },
          Condition: { StringEqualsIfExists: { 'aws:SourceAccount': '${AWS::AccountId}' } },
        },
      ]);
      expect(others).toEqual({});
    });

    test('can only use its tables, write its log and send traces', () => {
      const policies = propertiesOf(template, 'AWS::IAM::Policy').filter(({ Roles }) =>
        Roles.includes(`\${${name}Role}`),
      );
      expect(policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)).toEqual([
        { Effect: 'Allow', Action: actions, Resource: resources },
        {
          Effect: 'Allow',
          Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          Resource: `\${${name}Logs.Arn}`,
        },
        { Effect: 'Allow', Action: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], Resource: '*' },
      ]);
    });
  });
});
