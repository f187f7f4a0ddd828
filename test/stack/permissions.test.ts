import { describe, expect, test } from '@jest/globals';
import { functionNames, propertiesOf, readableTemplate } from '../support/stack-template.ts';

const route = (path: string) => `/\${ApiRestApiDeploymentStageproduction}/${path}`;
const items = '${StoragePets.Arn}';
const records = '${StorageIdempotencyRecords.Arn}';

/** What invokes each function, and what the function can do with tables. It can also write its own log. */
const functions: Record<string, Permissions & { invokedBy: string }> = {
  ListPets: {
    invokedBy: route('GET/v1/pets'),
    actions: ['dynamodb:Query'],
    resources: [`${items}/index/newest`, `${items}/index/newest-by-status`],
  },
  CreatePet: {
    invokedBy: route('POST/v1/pets'),
    actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
    resources: [items, records],
  },
  GetPet: { invokedBy: route('GET/v1/pets/*'), actions: ['dynamodb:GetItem'], resources: [items] },
  Authorizer: {
    invokedBy: '/authorizers/${ApiAuthorizer}',
    actions: ['dynamodb:GetItem'],
    resources: ['${StorageApiKeys.Arn}'],
  },
};

interface Permissions {
  actions: string[];
  resources: string[];
}

const thisAccount = { 'aws:SourceAccount': '${AWS::AccountId}' };
const arnOf = (service: string) => `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}`;

describe('in production,', () => {
  const template = readableTemplate('production');

  test('each function can use only its tables, and write only its own log', () => {
    const found = functionNames.map((name) => [
      name,
      { role: template.Resources[name].Properties.Role, ...roleOf('production', `${name}Role`) },
    ]);
    const expected = Object.entries(functions).map(([name, own]) => [
      name,
      {
        role: `\${${name}Role.Arn}`,
        trusts: trustIn('lambda.amazonaws.com'),
        allows: [
          sorted(own),
          { actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [`\${${name}Logs.Arn}`] },
        ],
      },
    ]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });

  test('only the API can invoke its functions, only their aliases, and only from the function’s route', () => {
    const ofApi = new RegExp(String.raw`^\$\{(?:${functionNames.join('|')})(?![a-z])`);
    const granted = propertiesOf(template, 'AWS::Lambda::Permission').filter(({ FunctionName }) =>
      ofApi.test(FunctionName),
    );
    const expected = Object.entries(functions).map(([name, { invokedBy }]) => ({
      Action: 'lambda:InvokeFunction',
      FunctionName: `\${${name}Live}`,
      Principal: 'apigateway.amazonaws.com',
      SourceArn: `${arnOf('execute-api')}:\${ApiRestApi}${invokedBy}`,
    }));
    expect(new Set(granted)).toEqual(new Set(expected));
  });

  // EventBridge does not support conditions in topic policies, so a policy cannot limit events to those of this account.
  // Therefore, the topic that wakes somebody must not accept events.
  test.each([
    ['AlarmTopic', 'only alarms of this account and region', []],
    ['NoticeTopic', 'alarms of this account and region, and events', [{ Service: 'events.amazonaws.com' }]],
  ])('the topic %s accepts %s, and only over TLS', (topic, _what, events) => {
    const policies = propertiesOf(template, 'AWS::SNS::TopicPolicy');
    const [{ PolicyDocument }, ...others] = policies.filter(
      ({ Topics }) => Topics.join() === `\${Monitoring${topic}}`,
    );
    const publish = { Action: 'sns:Publish', Resource: `\${Monitoring${topic}}`, Sid: expect.any(String) };
    const noTls = { Bool: { 'aws:SecureTransport': 'false' } };
    const ownAlarms = { ArnLike: { 'aws:SourceArn': `${arnOf('cloudwatch')}:alarm:*` } };
    const Principal = { Service: 'cloudwatch.amazonaws.com' };
    const Condition = { ...ownAlarms, StringEquals: thisAccount };
    expect(PolicyDocument.Statement).toEqual([
      { ...publish, Effect: 'Deny', Principal: '*', Condition: noTls },
      { ...publish, Effect: 'Allow', Principal, Condition },
      ...events.map((service) => ({ ...publish, Effect: 'Allow', Principal: service })),
    ]);
    expect([others, policies.length]).toEqual([[], 2]);
  });
});

// The log role and the account setting outlive the stack, because other APIs in the account can depend on the role.
test('the account stack contains only the role and the setting that let API Gateway write logs, after an API', () => {
  const { LogRole, ApiGatewayAccount, FirstApi, ...others } = readableTemplate('account').Resources;
  expect(roleOf('account', 'LogRole')).toEqual({
    trusts: trustIn('apigateway.amazonaws.com'),
    allows: [],
    ManagedPolicyArns: [
      'arn:${AWS::Partition}:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs',
    ],
  });
  expect(ApiGatewayAccount.Properties).toEqual({ CloudWatchRoleArn: '${LogRole.Arn}' });
  // In an account that has never used API Gateway, the setting fails if no other resource of API Gateway exists.
  expect([ApiGatewayAccount.DependsOn, FirstApi.Type]).toEqual([['FirstApi'], 'AWS::ApiGateway::RestApi']);
  expect(others).toEqual({});
  for (const { DeletionPolicy, UpdateReplacePolicy } of [LogRole, ApiGatewayAccount])
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['Retain', 'Retain']);
});

function roleOf(stage: Parameters<typeof readableTemplate>[0], role: string): object {
  const template = readableTemplate(stage);
  const { AssumeRolePolicyDocument, ...others } = template.Resources[role].Properties;
  const policies = propertiesOf(template, 'AWS::IAM::Policy').filter(({ Roles }) =>
    Roles.includes(`\${${role}}`),
  );
  return {
    ...others,
    trusts: AssumeRolePolicyDocument.Statement,
    allows: policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement.map(permissionsIn)),
  };
}

/** Returns the only statement of a role's trust policy: the service can use the role on behalf of this account. */
function trustIn(Service: string): object[] {
  const Condition = { StringEqualsIfExists: thisAccount };
  return [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service }, Condition }];
}

/** Returns the permissions that a statement of a policy grants. */
function permissionsIn({ Effect, Action, Resource, ...others }: any): Permissions {
  expect({ Effect, ...others }).toEqual({ Effect: 'Allow' });
  return sorted({ actions: [Action].flat(), resources: [Resource].flat() });
}

/** Sorts the actions and resources, because the order in a policy has no effect. */
function sorted({ actions, resources }: Permissions): Permissions {
  return { actions: actions.toSorted(), resources: resources.toSorted() };
}
