import { describe, expect, test } from '@jest/globals';
import { constructOf } from '../support/invoke.ts';
import type { Permissions } from '../support/collection-tests.ts';
import { operationTests } from '../collections/all.ts';
import { functionNames, propertiesOf, readableTemplate, stageNames } from '../support/stack-template.ts';

const ownPermissions: [name: string, Permissions][] = [
  ['Authorizer', { actions: ['dynamodb:GetItem'], resources: ['${StorageApiKeys.Arn}'] }],
  ...Object.entries(operationTests).map(([id, { permissions }]): [string, Permissions] => [
    constructOf(id),
    permissions,
  ]),
];

const thisAccount = { 'aws:SourceAccount': '${AWS::AccountId}' };
const arnOf = (service: string) => `arn:\${AWS::Partition}:${service}:\${AWS::Region}:\${AWS::AccountId}`;

describe.each(stageNames)('in %s,', (stage) => {
  const template = readableTemplate(stage);

  test.each(ownPermissions)('%s can use only its tables, and write only its own log', (name, own) => {
    expect(template.Resources[name].Properties.Role).toBe(`\${${name}Role.Arn}`);
    expect(roleOf(stage, `${name}Role`)).toEqual({
      trusts: trustIn('lambda.amazonaws.com', { StringEqualsIfExists: thisAccount }),
      allows: [
        sorted(own),
        { actions: ['logs:CreateLogStream', 'logs:PutLogEvents'], resources: [`\${${name}Logs.Arn}`] },
      ],
    });
  });

  test('only the API can invoke its functions, only their aliases, and only from the function’s route', () => {
    const ofStage = `/\${ApiRestApiDeploymentStage${stage}}`;
    const sources = [
      ['Authorizer', '/authorizers/${ApiAuthorizer}'],
      ...Object.entries(operationTests).map(([id, { route }]) => [constructOf(id), `${ofStage}/${route}`]),
    ];
    const permissions = sources.map(([name, source]) => ({
      Action: 'lambda:InvokeFunction',
      FunctionName: `\${${name}Live}`,
      Principal: 'apigateway.amazonaws.com',
      SourceArn: `${arnOf('execute-api')}:\${ApiRestApi}${source}`,
    }));
    const ofApi = new RegExp(String.raw`^\$\{(?:${functionNames.join('|')})(?![a-z])`);
    const granted = propertiesOf(template, 'AWS::Lambda::Permission').filter(({ FunctionName }) =>
      ofApi.test(FunctionName),
    );
    expect(new Set(granted)).toEqual(new Set(permissions));
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
    trusts: trustIn('apigateway.amazonaws.com', { StringEqualsIfExists: thisAccount }),
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

function trustIn(Service: string, Condition: object): object[] {
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
