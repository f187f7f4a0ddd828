import { describe, expect, test } from '@jest/globals';
import {
  alias,
  gatewayResponse,
  lambdaFunction,
  method,
  mock,
  policy,
  proxyTo,
  role,
  root,
  sampleApi,
  type SampleResource,
  type SampleResources,
  table,
  templateOf,
  withProperties,
} from '../sample-resources.ts';

/** Returns the value of an environment variable of a function that the API invokes. */
function resolved(value: unknown, others: SampleResources = {}): unknown {
  const template = templateOf({
    ...sampleApi,
    ...others,
    Books: table('id'),
    Role: role,
    GetBook: lambdaFunction('get-book', { VALUE: value }),
    Authorizer: lambdaFunction('authorizer'),
    AuthorizerLive: alias('Authorizer', 'live'),
  });
  return template.resources('AWS::Lambda::Function')[0]?.properties.Environment.Variables['VALUE'];
}

const Orders = { Type: 'AWS::SQS::Queue', Properties: { Owner: { 'Fn::If': ['Never', 1, 2] } } };

test("intrinsic functions get the values that a deployed function would get, in the emulator's account", () => {
  const tableArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Books';
  const aliasArn = 'arn:aws:lambda:us-east-1:000000000000:function:Authorizer:live';
  const values: [value: object, expected: string][] = [
    [{ Ref: 'Books' }, 'Books'],
    [{ Ref: 'Stage' }, 'staging'],
    [{ Ref: 'AuthorizerLive' }, aliasArn],
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [root, 'Api'],
    [{ 'Fn::GetAtt': ['Books', 'Arn'] }, tableArn],
    [{ 'Fn::Join': ['/', ['a', { Ref: 'Books' }, 'b']] }, 'a/Books/b'],
    [{ 'Fn::Select': [1, { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
  ];
  expect(values.map(([value]) => [value, resolved(value)])).toEqual(values);
});

test('a reference to a resource of an unknown type becomes the logical id', () => {
  const parts = { 'Fn::Split': [':', { Ref: 'Orders' }] };
  const nameInArn = { 'Fn::Select': [0, { 'Fn::Split': ['-', { 'Fn::Select': [6, parts] }] }] };
  for (const value of [{ Ref: 'Orders' }, { 'Fn::GetAtt': ['Orders', 'Arn'] }, nameInArn])
    expect(resolved(value, { Orders })).toBe('Orders');
});

describe('the emulator names, and does not run,', () => {
  test('resources that only monitor, deploy, name or protect the stack', () => {
    const types = ['AWS::CloudWatch::Alarm', 'AWS::Logs::LogGroup'];
    const resources = [...types, ...types].map((Type) => ({ ...Orders, Type }));
    expect(templateOf(Object.fromEntries(resources.entries()))).toMatchObject({
      skippedTypes: types,
      notRun: [],
    });
  });

  test('a resource of an unknown type', () => {
    expect(templateOf({ ...sampleApi, Orders }).notRun).toEqual(['Orders (AWS::SQS::Queue)']);
  });

  test('a function that the API does not invoke, with its role, policies and table', () => {
    const Consumer = withProperties(lambdaFunction('consumer'), {
      Runtime: 'python3.13',
      Role: { 'Fn::GetAtt': ['ConsumerRole', 'Arn'] },
    });
    const ConsumerPolicy = withProperties(policy('sqs:ReceiveMessage', '*', 'ConsumerRole'), {
      PolicyDocument: { Statement: [{ Effect: 'Deny', NotAction: 'sqs:*' }] },
    });
    const ConsumerLive = withProperties(alias('Consumer', 'live'), { RoutingConfig: {} });
    const ConsumerTable = { Type: 'AWS::DynamoDB::Table', Properties: {} };
    const consumer = { Consumer, ConsumerLive, ConsumerRole: role, ConsumerPolicy, ConsumerTable };
    const invoked = { ...sampleApi, Role: role, GetBook: lambdaFunction('get-book') };
    const template = templateOf({ ...invoked, ...consumer }, ['Consumer']);
    expect(template.notRun).toEqual([
      'Consumer (AWS::Lambda::Function)',
      'ConsumerTable (AWS::DynamoDB::Table)',
    ]);
    const functions = template.resources('AWS::Lambda::Function').map(({ logicalId }) => logicalId);
    expect(functions).toEqual(['GetBook']);
  });
});

test('the emulator accepts any value of a property that has no effect on responses', () => {
  const unresolvable = { 'Fn::GetAtt': ['Nobody', 'Arn'] };
  const GetBook = withProperties(lambdaFunction('get-book'), { Description: unresolvable });
  const Books = withProperties(table('id'), { Replicas: [{ Region: unresolvable }] });
  expect(() => templateOf({ ...sampleApi, Role: role, GetBook, Books })).not.toThrow();
});

describe('the emulator rejects', () => {
  test('all unsupported types, properties and intrinsic functions of a stack in one message', () => {
    const Old = { Type: 'AWS::DynamoDB::Table', Properties: {} };
    const changes = { BillingMode: { 'Fn::If': [] }, TableClass: 'STANDARD' };
    const Books = { ...withProperties(table('id'), changes), Condition: 'Sometimes' };
    const tables = { 'Fn::Join': [',', [{ Ref: 'Books' }, { Ref: 'Old' }]] };
    const GetBook = lambdaFunction('get-book', { TABLES: tables });
    const message =
      'The emulator does not support parts of the stack: ' +
      'Old: the type AWS::DynamoDB::Table; ' +
      'Books (AWS::DynamoDB::GlobalTable): Condition: not supported; ' +
      'Books (AWS::DynamoDB::GlobalTable): BillingMode: the intrinsic function Fn::If; ' +
      'Books (AWS::DynamoDB::GlobalTable): TableClass: not supported. ';
    expect(() => templateOf({ Old, Books, Role: role, GetBook })).toThrow(message);
  });

  test('values that it cannot resolve', () => {
    const values = [
      { 'Fn::Sub': '${Books}' },
      { 'Fn::GetAtt': ['Books', 'StreamArn'] },
      { Ref: 'AWS::StackName' },
      { 'Fn::Select': [1, ['a']] },
      { 'Fn::Join': ['', ['a', { Ref: 'Nobody' }]] },
    ];
    for (const value of values)
      expect(() => resolved(value)).toThrow('GetBook (AWS::Lambda::Function): Environment.Variables.VALUE: ');
  });

  test('properties that would change responses on AWS', () => {
    const getBook = lambdaFunction('get-book');
    const stage = sampleApi.Stage;
    const response = gatewayResponse('DEFAULT_5XX', '500');
    const Deny = { Action: 'dynamodb:GetItem', Effect: 'Deny', Resource: '*' };
    const origin = { ResponseParameters: { 'header.Origin': 'method.request.header.Origin' } };
    const error = { ResponseTemplates: { 'application/json': '{"message":"$context.error.message"}' } };
    const path = { ...mock('404'), RequestTemplates: { 'a/b': '{"statusCode":$input.path("$")}' } };
    const foreign = proxyTo('arn:aws:lambda:us-east-1:123456789012:function:Other');
    const changed: [place: string, resource: SampleResource, changes: object][] = [
      // AWS has a default, but the stacks always contain the property, so the emulator has none.
      ['Timeout', getBook, { Timeout: undefined }],
      ['Runtime', getBook, { Runtime: 'nodejs22.x' }],
      ['AuthorizerId', method('root', 'GET'), { AuthorizationType: 'CUSTOM' }],
      ['MethodSettings.0.CachingEnabled', stage, { MethodSettings: [{ CachingEnabled: true }] }],
      ['PolicyDocument.Statement.0.Effect', policy([], []), { PolicyDocument: { Statement: [Deny] } }],
      ['ResponseParameters.header.Origin', response, origin],
      ['ResponseTemplates.application/json', response, error],
      ['Integration.Uri', method(root, 'GET', foreign), {}],
      ['Integration.RequestTemplates.a/b', method(root, 'ANY', path), {}],
    ];
    for (const [place, resource, changes] of changed) {
      const Changed = withProperties(resource, changes);
      const stack = { ...sampleApi, Role: role, GetBook: getBook, Changed };
      expect(() => templateOf(stack)).toThrow(`: Changed (${resource.Type}): ${place}: `);
    }
  });
});
